import {
  decodeAttributes,
  encodeAttributeMap,
  encodeAttributes,
} from '../../core/antelope/attributes/index.ts'
import type { AbiDefinition } from '../../core/antelope/abi/index.ts'
import type { AttributePair } from '../../core/antelope/attributes/index.ts'

/** One line of a schema format. */
export interface FormatField {
  readonly name: string
  readonly type: string
}

/** Attribute values by name, in the forms that the attribute codec takes. */
export type Attributes = Readonly<Record<string, unknown>>

/** The map form that actions carry, in the spelling of the given ABI of the assets contract. */
export function attributeMap(
  abi: AbiDefinition,
  format: readonly FormatField[],
  attributes: Attributes,
): AttributePair[] {
  const map = abi.types.find((type) => type.new_type_name === 'ATTRIBUTE_MAP')?.type.slice(0, -2)
  const pair = abi.structs.find((struct) => struct.name === map)
  const spelling = pair?.fields[0]?.name === 'first' ? 'first-second' : 'key-value'
  return encodeAttributeMap(format, attributes, spelling)
}

/** The stored form of attributes. */
export function packAttributes(format: readonly FormatField[], attributes: Attributes): Uint8Array {
  return encodeAttributes(format, attributes)
}

/** Reads the stored form; what cannot be read is left out. Empty bytes are an empty object. */
export function unpackAttributes(format: readonly FormatField[], bytes: Uint8Array): Attributes {
  return decodeAttributes(format, bytes).attributes
}
