import type { AttributeField, Attributes, AttributeValue } from './format.ts'
import { emptyAttributes, FIRST_IDENTIFIER, withoutNul } from './format.ts'
import { AttributeReader, AttributeStop, scalarReaders } from './scalar-reader.ts'

/** Why attribute data could not be read to their end. What stands before `offset` was decoded. */
export interface AttributeProblem {
  /** `format_too_short`: a field that the format does not have, so the format is older than the data. */
  readonly kind: 'format_too_short' | 'unknown_type' | 'truncated' | 'corrupt'
  /** For people: what is wrong, with the name of the field where there is one. */
  readonly message: string
  /** Byte at which the identifier of the unreadable field stands. */
  readonly offset: number
}

/** Attributes, and a problem when the data continued but could not be decoded. */
export interface DecodedAttributes {
  readonly attributes: Attributes
  readonly problem?: AttributeProblem
}

type ReadValue = (reader: AttributeReader) => AttributeValue

interface CompiledField {
  readonly name: string
  readonly type: string
  readonly read: ReadValue | null
}

// The format object of a schema is the same for as long as the schema is unchanged, and serves many rows.
const compiledFormats = new WeakMap<readonly AttributeField[], readonly CompiledField[]>()

/**
 * Decodes the packed attributes of a table row (collections, templates, assets) with the format of their
 * schema. Never throws: data that the format does not explain are decoded up to there, with a problem.
 * Identifier 0 ends the data; of a field that comes twice the last value counts.
 *
 * Values: integers up to 32 bits number, 64 bits decimal text (as is one too large for its type), bool 0
 * or 1, NaN and infinities `null`, `ipfs` base58 text, U+0000 in text a space, no UTF-8 U+FFFD.
 *
 * @param format list at least as new as the data; it must not be changed after it was passed here.
 */
export function decodeAttributes(format: readonly AttributeField[], bytes: Uint8Array): DecodedAttributes {
  const attributes = emptyAttributes()
  if (bytes.length === 0) return { attributes }
  const fields = compileFormat(format)
  const reader = new AttributeReader(bytes)
  let offset = 0
  let name: string | null = null
  try {
    while (reader.at < reader.end) {
      offset = reader.at
      name = null
      const identifier = reader.varint()
      if (identifier === 0) break
      const field = fields[Number(identifier) - FIRST_IDENTIFIER]
      if (field?.read == null) return { attributes, problem: describeUnreadable(identifier, field, offset) }
      name = field.name
      attributes[name] = field.read(reader)
    }
  } catch (error) {
    if (!(error instanceof AttributeStop)) throw error
    const message = name === null ? error.message : `attribute ${JSON.stringify(name)}: ${error.message}`
    return { attributes, problem: { kind: error.kind, message, offset } }
  }
  return { attributes }
}

function describeUnreadable(
  identifier: number | bigint,
  field: CompiledField | undefined,
  offset: number,
): AttributeProblem {
  if (field !== undefined) {
    const message = `attribute ${JSON.stringify(field.name)} has the unknown type ${JSON.stringify(field.type)}`
    return { kind: 'unknown_type', message, offset }
  }
  if (identifier < FIRST_IDENTIFIER) {
    return { kind: 'corrupt', message: `identifier ${identifier} is reserved`, offset }
  }
  return { kind: 'format_too_short', message: `the format has no field for identifier ${identifier}`, offset }
}

function compileFormat(format: readonly AttributeField[]): readonly CompiledField[] {
  let fields = compiledFormats.get(format)
  if (fields?.length !== format.length) {
    fields = format.map(({ name, type }) => ({ name: withoutNul(name), type, read: readerFor(type) }))
    compiledFormats.set(format, fields)
  }
  return fields
}

function readerFor(type: string): ReadValue | null {
  // The contract accepts `bytes` in a format and cannot store it; unsigned numbers, like its byte vectors.
  if (type === 'bytes') return readByteList
  if (!type.endsWith('[]')) return scalarReaders.get(type) ?? null
  const read = scalarReaders.get(type.slice(0, -2))
  if (read === undefined) return null
  return (reader) => {
    const count = reader.length()
    const values = []
    for (let i = 0; i < count; i++) values.push(read(reader))
    return values
  }
}

const readByteList: ReadValue = (reader) => {
  const length = reader.length()
  const start = reader.take(length)
  return Array.from(reader.bytes.subarray(start, start + length))
}
