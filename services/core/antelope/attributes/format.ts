/** One line of a schema format: attribute `name` of type `type`, such as `uint64`, `image`, `string[]`. */
export interface AttributeField {
  readonly name: string
  readonly type: string
}

/** A single attribute value in its JSON form: 64-bit integers are decimal text, NaN and infinities `null`. */
export type AttributeScalar = null | number | string

/** An attribute value in its JSON form. */
export type AttributeValue = AttributeScalar | AttributeScalar[]

/** Attributes by name. Objects created here have no prototype, so that any name is data, `__proto__` too. */
export type Attributes = Record<string, AttributeValue>

/** Position of a field in its format plus this is the identifier in packed data; 0 to 3 are reserved. */
export const FIRST_IDENTIFIER = 4

/** `value` without U+0000, which jsonb cannot hold: each becomes a space, as in the replaced system. */
export function withoutNul(value: string): string {
  return value.includes('\0') ? value.replaceAll('\0', ' ') : value
}

/** An object for attributes. */
export function emptyAttributes(): Attributes {
  return Object.create(null) as Attributes
}
