import { attributeBytes } from '../../../core/antelope/attributes/index.ts'
import { hexToBytes } from '../../../core/bytes/index.ts'

/** A schema field whose values the source database may store in another form than the contract wrote. */
export interface FieldToRepair {
  readonly name: string
  readonly type: string
}

/** Fields to repair, by schema. The key is `collection/schema`. */
export type FieldsToRepair = ReadonlyMap<string, readonly FieldToRepair[]>

/** Field types to repair: byte lists in every source version, floats only in atomicassets-api (2.x). */
const bytesTypes = ['int8[]']
const floatTypes = ['float', 'double', 'float[]', 'double[]']

/**
 * Field types whose values the source database may store in another form than the contract wrote.
 * @param version version of the program that filled the source: eosio-contract-api (1.x) or atomicassets-api (2.x).
 */
export function typesToRepair(version: string): readonly string[] {
  return version.startsWith('1.') ? bytesTypes : [...bytesTypes, ...floatTypes]
}

/**
 * Whether a value is a byte list as eosio-contract-api stores it from actions: an object such as {"0": 127, "1": 255}.
 */
function isByteObject(value: unknown): value is Record<string, number> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const entries = Object.entries(value)
  return entries.every(([key, byte], place) => key === String(place) && typeof byte === 'number')
}

/**
 * Converts a byte list that is stored as an object to the list that the contract wrote. Returns other values unchanged.
 */
function repairBytes(type: string, value: unknown): unknown {
  return isByteObject(value) ? attributeBytes(type, Uint8Array.from(Object.values(value))) : value
}

/** Parses a float that atomicassets-api 2.0 to 2.2 stored as text. Returns other values unchanged. */
export function repairFloat(type: string, value: unknown): unknown {
  if (Array.isArray(value))
    return value.some((item) => typeof item === 'string')
      ? value.map((item) => repairFloat(type, item))
      : value
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return value
  return type.startsWith('float') ? Math.fround(Number(value)) : Number(value)
}

/**
 * Converts an attribute value to the form that the indexer stores when it reads the value from a block. A value that
 * already has this form is not changed.
 */
function repairValue(type: string, value: unknown): unknown {
  if (type !== 'int8[]') return repairFloat(type, value)
  // atomicassets-api stores the bytes of an `int8[]` attribute as hexadecimal text.
  if (typeof value === 'string' && /^([0-9a-f]{2})*$/i.test(value))
    return attributeBytes(type, hexToBytes(value))
  return repairBytes(type, value)
}

/** Repairs the given fields of attribute JSON; returns the same text if no field needs repair. */
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

/** Repairs the byte lists in decoded action data, also in nested objects and lists. */
export function repairDeep(value: unknown): unknown {
  if (Array.isArray(value)) {
    // A variant: type name and value, such as ["INT8_VEC", {...}].
    if (value.length === 2 && typeof value[0] === 'string' && isByteObject(value[1]))
      return [value[0], repairBytes(value[0], value[1])]
    return value.map(repairDeep)
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, repairDeep(member)]))
  return value
}
