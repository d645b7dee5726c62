import { nameValue } from '../runtime/index.ts'
import { symbolCodeValue } from '../contracts/token.ts'
import { invalidRequest } from './errors.ts'

/** Parameters of a request: the members of a JSON object. */
export type Params = Record<string, unknown>

const NAME_PATTERN = /^[a-z1-5.]{0,12}[a-p1-5.]?$/
const MAX_U64 = (1n << 64n) - 1n

/** Reads a text parameter; `fallback` if it is absent. */
export function textParam(params: Params, key: string, fallback?: string): string {
  const value = params[key] ?? fallback
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') throw invalidRequest(`${key} must be a string`)
  return value
}

/** Reads a name parameter as its 64-bit value. */
export function nameParam(params: Params, key: string): bigint {
  const text = textParam(params, key)
  if (!NAME_PATTERN.test(text)) throw invalidRequest(`${key} is not a valid name: ${text.slice(0, 64)}`)
  return nameValue(text)
}

/** Reads a number parameter of at least 1. Like a node, caps it at `most`. */
export function countParam(params: Params, key: string, fallback: number, most: number): number {
  const value = Number(params[key] ?? fallback)
  if (!Number.isInteger(value) || value < 1) throw invalidRequest(`${key} must be a positive number`)
  return Math.min(value, most)
}

/** Reads a boolean parameter. True, 1 and their texts count as true; any other value counts as false. */
export function flagParam(params: Params, key: string): boolean {
  const value = params[key]
  return value === true || value === 1 || value === 'true' || value === '1'
}

/** Reads a 64-bit value, given as a number, decimal text, name or symbol code; undefined if absent or empty. */
export function keyParam(params: Params, key: string): bigint | undefined {
  const text = textParam(params, key, '').trim()
  if (text === '') return undefined
  if (/^\d{1,20}$/.test(text)) {
    const value = BigInt(text)
    if (value > MAX_U64) throw invalidRequest(`${key} exceeds 64 bits`)
    // Short digit sequences could also be names, but a node reads them as numbers.
    return value
  }
  if (NAME_PATTERN.test(text)) return nameValue(text)
  if (/^[A-Z]{1,7}$/.test(text)) return symbolCodeValue(text)
  throw invalidRequest(`${key} is neither a number nor a name: ${text.slice(0, 64)}`)
}
