import { attributeBytes } from '../../core/antelope/attributes/index.ts'

/** Converts decoded chain data to JSON text for a `jsonb` column; see {@link toPlain}. */
export function toJsonText(value: unknown): string {
  return JSON.stringify(toPlain(value))
}

/**
 * Converts decoded chain data to plain JSON values: 64-bit integers to decimal strings, non-finite numbers to null,
 * bytes to arrays of numbers (signed only in an attribute of a signed type), U+0000 to a space, and attribute pairs to
 * `{key, value}`, because the field names of a pair depend on the contract's compiler.
 */
export function toPlain(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint':
      return value.toString()
    case 'string':
      return value.includes('\0') ? value.replaceAll('\0', ' ') : value
    case 'object':
      return value === null ? null : toPlainObject(value)
    default:
      return value
  }
}

function toPlainObject(value: object): unknown {
  if (value instanceof Uint8Array) return Array.from(value)
  if (Array.isArray(value))
    return isTypedBytes(value) ? [value[0], attributeBytes(...value)] : value.map(toPlain)
  const fields = value as Readonly<Record<string, unknown>>
  if ('first' in fields && 'second' in fields)
    return { key: toPlain(fields.first), value: toPlain(fields.second) }
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toPlain(field)]))
}

/** Whether a list is an attribute value: a type name and bytes. */
function isTypedBytes(value: unknown[]): value is [string, Uint8Array] {
  return value.length === 2 && typeof value[0] === 'string' && value[1] instanceof Uint8Array
}
