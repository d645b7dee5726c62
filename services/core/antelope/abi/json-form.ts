import { bytesToHex } from '../../bytes/index.ts'
import type { TypeNode } from '../types/index.ts'

/** Any value that JSON can represent. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

/**
 * Form of 64-bit integers in JSON. `text`: always decimal text. `node`: as chain nodes do, numbers up to 32 bits and
 * text above. Longer integers are text in both forms.
 */
export type IntegerForm = 'text' | 'node'

/** Largest 64-bit integer that nodes print as a number. */
const MAX_NODE_NUMBER = 0xffffffffn

/**
 * Converts a decoded value to JSON: integers of 64 bits and more as decimal text, `bytes` as hexadecimal, `uint8[]` as
 * numbers, NaN and infinities as `null`. Objects have no prototype, so `__proto__` is an ordinary key.
 */
export function toJsonForm(node: TypeNode, value: unknown, integers: IntegerForm = 'text'): JsonValue {
  if (value === null || value === undefined) return null
  if (node.kind === 'builtin') {
    const isShort = integers === 'node' && (node.name === 'int64' || node.name === 'uint64')
    return isShort ? shortForm(value as bigint) : scalarForm(node.name === 'bytes', value)
  }
  if (node.kind === 'optional') return toJsonForm(node.inner, value, integers)
  if (node.kind === 'array') {
    return Array.from(value as ArrayLike<unknown>, (item) => toJsonForm(node.element, item, integers))
  }
  if (node.kind === 'variant') {
    const [type, inner] = value as [string, unknown]
    const chosen = node.alternatives.find((alternative) => alternative.name === type)
    return [type, chosen === undefined ? null : toJsonForm(chosen.type, inner, integers)]
  }
  const result = Object.create(null) as Record<string, JsonValue>
  for (const field of node.fields) {
    if (Object.hasOwn(value, field.name)) {
      const member = (value as Record<string, unknown>)[field.name]
      result[field.name] = toJsonForm(field.type, member, integers)
    }
  }
  return result
}

function shortForm(value: bigint): JsonValue {
  return value <= MAX_NODE_NUMBER && value >= -MAX_NODE_NUMBER ? Number(value) : value.toString()
}

function scalarForm(isBytes: boolean, value: unknown): JsonValue {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value instanceof Uint8Array) return isBytes ? bytesToHex(value) : Array.from(value)
  // Text, bool or null; or an object with text members: only extended assets are decoded to objects.
  return value as JsonValue
}
