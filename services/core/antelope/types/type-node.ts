/** Sizes of the built-in types in bytes; `null` if the size depends on the data. */
export const builtinSizes = {
  bool: 1,
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  int128: 16,
  uint128: 16,
  varint32: null,
  varuint32: null,
  float32: 4,
  float64: 8,
  float128: 16,
  time_point: 8,
  time_point_sec: 4,
  block_timestamp_type: 4,
  name: 8,
  bytes: null,
  string: null,
  checksum160: 20,
  checksum256: 32,
  checksum512: 64,
  public_key: null,
  signature: null,
  symbol: 8,
  symbol_code: 8,
  asset: 16,
  extended_asset: 24,
  bitset: null,
} as const

export type BuiltinName = keyof typeof builtinSizes

/**
 * A type of an ABI with aliases resolved. Types may contain each other in a cycle; every cycle contains a struct or
 * variant that is marked `recursive`. A `TypeNode` must not be changed.
 */
export type TypeNode = BuiltinNode | StructNode | VariantNode | ArrayNode | OptionalNode

/** A built-in type, which every ABI knows. */
export interface BuiltinNode {
  readonly kind: 'builtin'
  readonly name: BuiltinName
}

/** A struct; the fields of its bases come first. `recursive`: a value can contain another value of this type. */
export interface StructNode {
  readonly kind: 'struct'
  readonly name: string
  readonly fields: FieldNode[]
  recursive: boolean
}

/** A struct field. `extension`: the field may be absent at the end of the data. */
export interface FieldNode {
  readonly name: string
  readonly type: TypeNode
  readonly extension: boolean
}

/** A value of one of several types; an index precedes the value. */
export interface VariantNode {
  readonly kind: 'variant'
  readonly name: string
  readonly alternatives: { readonly name: string; readonly type: TypeNode }[]
  recursive: boolean
}

/** A list; `length` is `null` if a count precedes the elements. */
export interface ArrayNode {
  readonly kind: 'array'
  element: TypeNode
  readonly length: number | null
}

/** An optional value, preceded by a presence byte. */
export interface OptionalNode {
  readonly kind: 'optional'
  inner: TypeNode
}

export function isBuiltin(type: string): type is BuiltinName {
  return Object.hasOwn(builtinSizes, type)
}

/** Types of the values that a value of the type `node` directly contains. */
export function childrenOf(node: TypeNode): TypeNode[] {
  if (node.kind === 'struct') return node.fields.map((field) => field.type)
  if (node.kind === 'variant') return node.alternatives.map((alternative) => alternative.type)
  if (node.kind === 'array') return [node.element]
  return node.kind === 'optional' ? [node.inner] : []
}
