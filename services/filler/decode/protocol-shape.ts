import type { FieldNode, StructNode, TypeNode } from '../../core/antelope/types/index.ts'
import type { TypeGraph } from '../../core/antelope/decoder/index.ts'
import { AbiError } from '../../core/bytes/index.ts'
import { FatalError } from '../../core/errors/index.ts'

// Node generations use one struct name for different layouts, and different names for one layout. So structs are
// identified by their fields and types. Only these names are taken from the protocol: the root types request, result,
// transaction_trace[] and table_delta[], and the names of delta tables.

/** Error for a protocol ABI that the reader cannot use (code `SHIP_PROTOCOL`); `problem` is a sentence. */
export function unusableProtocol(problem: string, cause?: unknown): FatalError {
  const options = cause === undefined ? {} : { cause }
  return new FatalError('SHIP_PROTOCOL', `the protocol ABI of the node cannot be used: ${problem}`, options)
}

/** Returns the type `name` of the protocol ABI. @throws FatalError `SHIP_PROTOCOL` if the ABI lacks the type. */
export function requireType(types: TypeGraph, name: string): TypeNode {
  try {
    return types.resolve(name)
  } catch (error) {
    if (error instanceof AbiError) throw unusableProtocol(`there is no usable type ${name}`, error)
    throw error
  }
}

/** Structs of a type: the struct itself, or each alternative of a variant with its index. */
export function structsOf(node: TypeNode, what: string): { index: number | null; struct: StructNode }[] {
  if (node.kind === 'struct') return [{ index: null, struct: node }]
  if (node.kind !== 'variant') throw unusableProtocol(`the type of ${what} is neither a struct nor a variant`)
  return node.alternatives.map(({ type }, index) => {
    if (type.kind !== 'struct')
      throw unusableProtocol(`an alternative of the variant ${what} is not a struct`)
    return { index, struct: type }
  })
}

/** Element type of an array of variable length. */
export function elementOf(node: TypeNode, what: string): TypeNode {
  if (node.kind !== 'array' || node.length !== null)
    throw unusableProtocol(`the type of the ${what} is not a list of variable length`)
  return node.element
}

export function fieldOf(struct: StructNode, name: string): FieldNode | undefined {
  return struct.fields.find((field) => field.name === name)
}

/**
 * Returns the field with this name. @throws FatalError `SHIP_PROTOCOL` unless the field has one of the given built-in
 * types.
 */
export function requireBuiltin(struct: StructNode, name: string, ...types: readonly string[]): FieldNode {
  const field = fieldOf(struct, name)
  if (field?.type.kind === 'builtin' && types.includes(field.type.name)) return field
  throw unusableProtocol(`struct ${struct.name} has no field ${name} of type ${types.join(' or ')}`)
}

/** Whether a struct has all these fields. */
export function hasFields(struct: StructNode, names: readonly string[]): boolean {
  return names.every((name) => fieldOf(struct, name) !== undefined)
}
