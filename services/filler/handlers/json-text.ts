/** Decoded chain data as JSON text for `jsonb`; see {@link toPlain}. */
export function toJsonText(value: unknown): string {
  return JSON.stringify(toPlain(value))
}

/**
 * Decoded chain data as JSON has it: 64-bit integers as decimal strings, non-finite numbers as null, byte arrays as
 * arrays of signed numbers (the contract's only byte array is INT8_VEC), U+0000 as a space, attribute pairs always as
 * `{key, value}` however the contract's compiler named them.
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
  if (value instanceof Uint8Array) return Array.from(value, (byte) => (byte << 24) >> 24)
  if (Array.isArray(value)) return value.map(toPlain)
  const fields = value as Readonly<Record<string, unknown>>
  if ('first' in fields && 'second' in fields)
    return { key: toPlain(fields.first), value: toPlain(fields.second) }
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toPlain(field)]))
}
