import { bigIntToName, nameToBigInt } from '../../core/antelope/index.ts'

const MAX_CACHED = 200_000
const values = new Map<string, bigint>()

/** Unsigned 64-bit value of a name. Cached: the same few names are packed very often. */
export function nameValue(name: string): bigint {
  let value = values.get(name)
  if (value === undefined) {
    if (values.size >= MAX_CACHED) values.clear()
    value = nameToBigInt(name)
    values.set(name, value)
  }
  return value
}

/** Text of a name's 64-bit value. */
export function nameText(value: bigint): string {
  return bigIntToName(value)
}
