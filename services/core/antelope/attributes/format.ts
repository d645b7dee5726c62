/** A field of a schema format: attribute name and type, such as `uint64`, `image`, `string[]`. */
export interface AttributeField {
  readonly name: string
  readonly type: string
}

/** A single attribute value in its JSON form: 64-bit integers are decimal text, NaN and infinities `null`. */
export type AttributeScalar = null | number | string

/** An attribute value in its JSON form. */
export type AttributeValue = AttributeScalar | AttributeScalar[]

/** Attributes by name. The object has no prototype, so any name is an ordinary key, even `__proto__`. */
export type Attributes = Record<string, AttributeValue>

/**
 * Identifier of the first format field in packed data. The identifiers of the following fields count up from this
 * number. Identifiers 0 to 3 are reserved.
 */
export const FIRST_IDENTIFIER = 4

/** Replaces U+0000, which jsonb cannot store, by a space, as the replaced system does. */
export function withoutNul(value: string): string {
  return value.includes('\0') ? value.replaceAll('\0', ' ') : value
}

/** Creates an attributes object without prototype. */
export function emptyAttributes(): Attributes {
  return Object.create(null) as Attributes
}
