export { builtinSizes, childrenOf, isBuiltin } from './type-node.ts'
export type {
  TypeNode,
  FieldNode,
  StructNode,
  BuiltinName,
  VariantNode,
  ArrayNode,
  BuiltinNode,
  OptionalNode,
} from './type-node.ts'
