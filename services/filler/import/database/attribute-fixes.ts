import { attributeBytes } from '../../../core/antelope/attributes/index.ts'
import { hexToBytes } from '../../../core/bytes/index.ts'

/** A field of a schema whose values the source may store in another form than the contract wrote them. */
export interface FieldToRepair {
  readonly name: string
  readonly type: string
}

/** Such fields, by `collection/schema`. */
export type FieldsToRepair = ReadonlyMap<string, readonly FieldToRepair[]>

/** Types of such fields: of every version, and of the successor. */
const bytesTypes = ['int8[]']
const floatTypes = ['float', 'double', 'float[]', 'double[]']

/** Types whose values a version of the source may store in another form. */
export function typesToRepair(version: string): readonly string[] {
  return version.startsWith('1.') ? bytesTypes : [...bytesTypes, ...floatTypes]
}

/** A list of bytes as eosio-contract-api stores it from actions: an object of unsigned numbers. */
function isByteObject(value: unknown): value is Record<string, number> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const entries = Object.entries(value)
  return entries.every(([key, byte], place) => key === String(place) && typeof byte === 'number')
}

/** Such an object as what the contract wrote for an attribute of the type. Others are returned as they are. */
function repairBytes(type: string, value: unknown): unknown {
  return isByteObject(value) ? attributeBytes(type, Uint8Array.from(Object.values(value))) : value
}

/** The number of a text, as versions 2.0 to 2.2 of the successor store floats. */
export function repairFloat(type: string, value: unknown): unknown {
  if (Array.isArray(value))
    return value.some((item) => typeof item === 'string')
      ? value.map((item) => repairFloat(type, item))
      : value
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return value
  return type.startsWith('float') ? Math.fround(Number(value)) : Number(value)
}

/** A value of a field as an index that read the blocks stores it; the value itself when nothing is to be repaired. */
function repairValue(type: string, value: unknown): unknown {
  if (type !== 'int8[]') return repairFloat(type, value)
  // The successor stores the bytes as hexadecimal text.
  if (typeof value === 'string' && /^([0-9a-f]{2})*$/i.test(value))
    return attributeBytes(type, hexToBytes(value))
  return repairBytes(type, value)
}

/** Attribute data with values repaired; the text itself when nothing is to be repaired. */
export function repairAttributes(json: string, fields: readonly FieldToRepair[]): string {
  const data = JSON.parse(json) as Record<string, unknown>
  let isChanged = false
  for (const { name, type } of fields) {
    const value = data[name]
    const repaired = repairValue(type, value)
    if (repaired === value) continue
    data[name] = repaired
    isChanged = true
  }
  return isChanged ? JSON.stringify(data) : json
}

/** Everything in a decoded action, with lists of bytes repaired. */
export function repairDeep(value: unknown): unknown {
  if (Array.isArray(value)) {
    // A typed value, such as ["INT8_VEC", {...}].
    if (value.length === 2 && typeof value[0] === 'string' && isByteObject(value[1]))
      return [value[0], repairBytes(value[0], value[1])]
    return value.map(repairDeep)
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, repairDeep(member)]))
  return value
}
