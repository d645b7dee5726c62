import {
  decodeAttributes,
  encodeAttributeMap,
  encodeAttributes,
} from '../../core/antelope/attributes/index.ts'
import type { AbiDefinition } from '../../core/antelope/abi/index.ts'
import type { AttributePair } from '../../core/antelope/attributes/index.ts'

/** A field of a schema format. */
export interface FormatField {
  readonly name: string
  readonly type: string
}

/** Attribute values by name, as the attribute codec accepts them. */
export type Attributes = Readonly<Record<string, unknown>>

/**
 * Converts attributes to the map form of action parameters. The ABI of the assets contract determines the names of the
 * types in the map.
 */
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

/** Packs attributes to their stored form. */
export function packAttributes(format: readonly FormatField[], attributes: Attributes): Uint8Array {
  return encodeAttributes(format, attributes)
}

/** Unpacks stored attributes; unreadable attributes are skipped. Empty bytes give an empty object. */
export function unpackAttributes(format: readonly FormatField[], bytes: Uint8Array): Attributes {
  return decodeAttributes(format, bytes).attributes
}
