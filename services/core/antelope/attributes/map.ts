import { DecodeError } from '../../bytes/index.ts'
import type { AttributeField, Attributes, AttributeScalar, AttributeValue } from './format.ts'
import { emptyAttributes, withoutNul } from './format.ts'

/**
 * A pair of an attribute map. The members are `key` and `value` in contract ABIs, `first` and `second` in ABIs that
 * the compiler generates.
 */
export type AttributePair =
  | { readonly key: string; readonly value: readonly [string, unknown] }
  | { readonly first: string; readonly second: readonly [string, unknown] }

/**
 * Converts the attribute map of a decoded action (`ATTRIBUTE_MAP`) to the JSON forms that {@link decodeAttributes}
 * returns. `INT8_VEC` becomes signed numbers, whichever element type the ABI declares. The last of equal keys counts.
 * @throws DecodeError if the argument is not a decoded attribute map.
 */
export function attributeMapToJson(pairs: unknown): Attributes {
  if (!Array.isArray(pairs)) throw new DecodeError('an attribute map must be a list of pairs', '', 0)
  const attributes = emptyAttributes()
  for (const pair of pairs as unknown[]) {
    const { key, value } = membersOf(pair)
    attributes[withoutNul(key)] = jsonForm(value[0], value[1])
  }
  return attributes
}

function membersOf(pair: unknown): { key: string; value: [string, unknown] } {
  if (typeof pair === 'object' && pair !== null) {
    const { key, value, first, second } = pair as Record<string, unknown>
    const name = key ?? first
    const variant = value ?? second
    if (typeof name === 'string' && Array.isArray(variant) && typeof variant[0] === 'string') {
      return { key: name, value: variant as [string, unknown] }
    }
  }
  throw new DecodeError('each element of an attribute map must be a pair of a name and a typed value', '', 0)
}

function jsonForm(type: string, value: unknown): AttributeValue {
  if (value instanceof Uint8Array) return attributeBytes(type, value)
  return Array.isArray(value) ? value.map(scalarForm) : scalarForm(value)
}

/**
 * Converts decoded bytes to numbers, signed or unsigned by the attribute type: ABIs declare both `INT8_VEC` and
 * `UINT8_VEC` as `bytes`.
 */
export function attributeBytes(type: string, bytes: Uint8Array): number[] {
  const signed = type === 'INT8_VEC' || type === 'int8[]'
  return Array.from(signed ? new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes)
}

function scalarForm(value: unknown): AttributeScalar {
  switch (typeof value) {
    case 'string':
      return withoutNul(value)
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      return value.toString()
    case 'boolean':
      return value ? 1 : 0
    default:
      throw new DecodeError(`an attribute value cannot be a ${typeof value}`, '', 0)
  }
}

/** Member names of the struct that an ABI declares for the name-value pairs of an attribute map. */
export type PairSpelling = 'key-value' | 'first-second'

const variantOf: Readonly<Record<string, readonly [scalar: string, vector: string]>> = {
  int8: ['int8', 'INT8_VEC'],
  int16: ['int16', 'INT16_VEC'],
  int32: ['int32', 'INT32_VEC'],
  int64: ['int64', 'INT64_VEC'],
  uint8: ['uint8', 'UINT8_VEC'],
  uint16: ['uint16', 'UINT16_VEC'],
  uint32: ['uint32', 'UINT32_VEC'],
  uint64: ['uint64', 'UINT64_VEC'],
  float: ['float32', 'FLOAT_VEC'],
  double: ['float64', 'DOUBLE_VEC'],
  string: ['string', 'STRING_VEC'],
  image: ['string', 'STRING_VEC'],
  ipfs: ['string', 'STRING_VEC'],
  bool: ['uint8', 'UINT8_VEC'],
  byte: ['uint8', 'UINT8_VEC'],
  fixed8: ['uint8', 'UINT8_VEC'],
  fixed16: ['uint16', 'UINT16_VEC'],
  fixed32: ['uint32', 'UINT32_VEC'],
  fixed64: ['uint64', 'UINT64_VEC'],
}

/**
 * Builds the pairs that an action of the contract takes or logs, for the ABI encoder: sorted by key bytes, as in the
 * contract's map. Attributes that the format does not list are left out.
 * @throws TypeError for a type that an attribute map cannot hold.
 */
export function encodeAttributeMap(
  format: readonly AttributeField[],
  attributes: Readonly<Record<string, unknown>>,
  spelling: PairSpelling = 'key-value',
): AttributePair[] {
  const entries: { name: string; typed: [string, unknown] }[] = []
  for (const { name, type } of format) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
    if (value === undefined || value === null) continue
    const vector = type.endsWith('[]')
    const base = vector ? type.slice(0, -2) : type
    if (!Object.hasOwn(variantOf, base))
      throw new TypeError(`type ${type} is not allowed in an attribute map`)
    const variant = variantOf[base]![vector ? 1 : 0]
    entries.push({ name, typed: [variant, value] })
  }
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
  return entries.map(({ name, typed }) =>
    spelling === 'key-value' ? { key: name, value: typed } : { first: name, second: typed },
  )
}
