import { createRequire } from 'node:module'
import type { JsonValue } from '../../services/core/antelope/abi/index.ts'
import type { BuiltinName, TypeNode } from '../../services/core/antelope/types/index.ts'
import { bytesToHex } from '../../services/core/bytes/index.ts'
import { describeUnless } from '../setup/available.ts'

/** The functions of the native ABI library that the tests call. */
export interface Abieos {
  loadAbiHex(contract: string, hex: string): boolean
  deleteContract(contract: string): boolean
  hexToJson(contract: string, type: string, hex: string): unknown
}

/** Built-in types that nodes know and the library does not. */
export const unknownToAbieos: readonly BuiltinName[] = ['bitset']

function load(): Abieos | string {
  try {
    const library = createRequire(import.meta.url)('@eosrio/node-abieos') as {
      Abieos: { getInstance(): Abieos }
    }
    return library.Abieos.getInstance()
  } catch (error) {
    return `the native ABI library does not load here: ${(error as Error).message}`
  }
}

/** Pattern of the decoder name that a report of `verify` contains on this machine. */
export function expectedDecoder(): RegExp {
  return typeof load() === 'string'
    ? /does not load on this machine/
    : /@eosrio\/node-abieos(?! does not load)/
}

/**
 * `describe` for comparisons with the native library. On a platform without a binary of the library, the suite is
 * skipped and prints the reason; with PRONGHORN_REQUIRE_ALL=1 the suite fails instead.
 */
export function describeWithAbieos(name: string, suite: (abieos: Abieos) => void): void {
  const abieos = load()
  const reason = typeof abieos === 'string' ? abieos : undefined
  describeUnless(reason, name, () => {
    if (typeof abieos !== 'string') suite(abieos)
  })
}

/**
 * Converts a decoded value to the output format of the native library: 64-bit integers as text, hexadecimal digits in
 * upper case, times in seconds with milliseconds, NaN and infinities as text, question marks for bytes that are not
 * valid UTF-8.
 */
export function abieosForm(node: TypeNode, value: unknown): JsonValue {
  if (value === null || value === undefined) return null
  if (node.kind === 'optional') return abieosForm(node.inner, value)
  if (node.kind === 'array') {
    return Array.from(value as ArrayLike<unknown>, (item) => abieosForm(node.element, item))
  }
  if (node.kind === 'variant') {
    const [type, inner] = value as [string, unknown]
    const chosen = node.alternatives.find((alternative) => alternative.name === type)
    return [type, abieosForm(chosen!.type, inner)]
  }
  if (node.kind === 'struct') {
    // Object.fromEntries creates an own key `__proto__`, as JSON.parse does.
    const entries = node.fields
      .filter((field) => Object.hasOwn(value, field.name))
      .map((field) => [field.name, abieosForm(field.type, (value as Record<string, unknown>)[field.name])])
    return Object.fromEntries(entries) as JsonValue
  }
  return scalarForm(node.name, value)
}

function scalarForm(type: string, value: unknown): JsonValue {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return bytesToHex(value).toUpperCase()
  if (typeof value === 'string' && (type.startsWith('checksum') || type === 'float128')) {
    return value.toUpperCase()
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (type === 'string') return (value as string).replaceAll('\ufffd', '?')
  if (type === 'time_point_sec') return `${value as string}.000`
  return value as JsonValue
}
