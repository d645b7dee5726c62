import type { AttributeField, Attributes, AttributeValue } from './format.ts'
import { emptyAttributes, FIRST_IDENTIFIER, withoutNul } from './format.ts'
import { AttributeReader, AttributeStop, scalarReaders } from './scalar-reader.ts'

/** Reason why the rest of attribute data could not be decoded. The attributes before `offset` were decoded. */
export interface AttributeProblem {
  /** `format_too_short`: the data has a field that the format lacks, so the format is older than the data. */
  readonly kind: 'format_too_short' | 'unknown_type' | 'truncated' | 'corrupt'
  /** Error message, with the name of the attribute if the name is known. */
  readonly message: string
  /** Byte offset of the identifier of the undecodable field. */
  readonly offset: number
}

/** Decoded attributes, and the problem if the rest of the data could not be decoded. */
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

// Cache of compiled formats by format array: a schema's format array stays the same object until the schema changes,
// and serves many rows.
const compiledFormats = new WeakMap<readonly AttributeField[], readonly CompiledField[]>()

/**
 * Decodes the packed attributes of a table row (collection, template, asset) with the format of its schema. Never
 * throws: stops at data that the format does not explain and reports the problem. Identifier 0 ends the data; the last
 * value of a repeated field counts.
 *
 * Forms of the values:
 * - integers up to 32 bits: number
 * - 64-bit integers, and integers too large for their type: decimal text
 * - bool: 0 or 1
 * - NaN and infinities: `null`
 * - `ipfs`: base58 text
 * - text: U+0000 becomes a space, and invalid UTF-8 becomes U+FFFD
 *
 * @param format field list at least as new as the data; must not be changed later, because its compiled form is cached.
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
  // The format of a schema may name the type `bytes`, although the contract stores no values of this type. If bytes
  // claim to be such a value, read it as a list of bytes, each a number from 0 to 255.
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
