import { attributeBytes } from '../../../core/antelope/attributes/index.ts'

/** Names of the fields of type `int8[]`, by `collection/schema`. */
export type ByteFields = ReadonlyMap<string, readonly string[]>

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

/** Attribute data with the lists of bytes repaired; the text itself when nothing is to be repaired. */
export function repairAttributes(json: string, fields: readonly string[]): string {
  const data = JSON.parse(json) as Record<string, unknown>
  let isChanged = false
  for (const field of fields) {
    const repaired = repairBytes('int8[]', data[field])
    if (repaired !== data[field]) {
      data[field] = repaired
      isChanged = true
    }
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
