import { bytesToHex } from '../values/hex.ts'
import type { TypeNode } from './type-node.ts'

/** What JSON can hold. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

/**
 * JSON form of a decoded value: integers of 64 bits and more as decimal text, `bytes` as hexadecimal,
 * `uint8[]` as numbers, NaN and infinities as `null`. Objects have no prototype, so that any key is data.
 */
export function toJsonForm(node: TypeNode, value: unknown): JsonValue {
  if (value === null || value === undefined) return null
  if (node.kind === 'builtin') return scalarForm(node.name === 'bytes', value)
  if (node.kind === 'optional') return toJsonForm(node.inner, value)
  if (node.kind === 'array') {
    return Array.from(value as ArrayLike<unknown>, (item) => toJsonForm(node.element, item))
  }
  if (node.kind === 'variant') {
    const [type, inner] = value as [string, unknown]
    const chosen = node.alternatives.find((alternative) => alternative.name === type)
    return [type, chosen === undefined ? null : toJsonForm(chosen.type, inner)]
  }
  const result = Object.create(null) as Record<string, JsonValue>
  for (const field of node.fields) {
    if (Object.hasOwn(value, field.name)) {
      result[field.name] = toJsonForm(field.type, (value as Record<string, unknown>)[field.name])
    }
  }
  return result
}

function scalarForm(isBytes: boolean, value: unknown): JsonValue {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value instanceof Uint8Array) return isBytes ? bytesToHex(value) : Array.from(value)
  // Only an extended asset is an object here, and its members are text.
  return value as JsonValue
}
