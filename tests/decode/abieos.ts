import { createRequire } from 'node:module'
import type { JsonValue } from '../../services/core/antelope/abi/index.ts'
import type { BuiltinName, TypeNode } from '../../services/core/antelope/types/index.ts'
import { bytesToHex } from '../../services/core/bytes/index.ts'
import { describeUnless } from '../setup/available.ts'

/** The part of the native ABI library that tests compare with. */
export interface Abieos {
  loadAbiHex(contract: string, hex: string): boolean
  deleteContract(contract: string): boolean
  hexToJson(contract: string, type: string, hex: string): unknown
}

/** Built-in types of nodes that the library lacks. */
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

/** Name of the decoder in a report of `verify` on this machine. */
export function expectedDecoder(): RegExp {
  return typeof load() === 'string' ? /does not load here/ : /@eosrio\/node-abieos(?! does not load)/
}

/**
 * `describe` for comparisons with the native library. Where it has no binary the suite counts as skipped and
 * says why; with PRONGHORN_REQUIRE_ALL=1 it fails instead.
 */
export function describeWithAbieos(name: string, suite: (abieos: Abieos) => void): void {
  const abieos = load()
  const reason = typeof abieos === 'string' ? abieos : undefined
  describeUnless(reason, name, () => {
    if (typeof abieos !== 'string') suite(abieos)
  })
}

/**
 * A decoded value in the form in which the native library prints it: all integers of 64 bits as text,
 * hexadecimal in upper case, seconds with milliseconds, NaN and infinities as text, bytes that are no UTF-8
 * as question marks.
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
    // As JSON.parse makes objects: `__proto__` is an own key there.
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
