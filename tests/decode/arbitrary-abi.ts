import fc from 'fast-check'
import {
  bigIntToName,
  formatAsset,
  formatSymbol,
  keyText,
  slotToEpochMs,
} from '../../services/core/antelope/index.ts'
import { bytesToHex } from '../../services/core/bytes/index.ts'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import {
  formatEpochMicroseconds,
  formatEpochMs,
  formatEpochSeconds,
} from '../../services/core/antelope/values/time.ts'
import type { AbiDefinition, AbiStruct } from '../../services/core/antelope/abi/index.ts'
import type { TypeNode } from '../../services/core/antelope/types/index.ts'
import type { BuiltinName } from '../../services/core/antelope/types/index.ts'
import type { KeyKind } from '../../services/core/antelope/values/key.ts'

const signed = (bits: bigint) => fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n })
const unsigned = (bits: bigint) => fc.bigInt({ min: 0n, max: 2n ** bits - 1n })
const hexOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => bytesToHex(bytes))
const symbolCode = fc.stringMatching(/^[A-Z]{1,7}$/)
const asset = fc
  .record({
    amount: fc.bigInt({ min: 1n - 2n ** 62n, max: 2n ** 62n - 1n }),
    precision: fc.nat(18),
    symbol: symbolCode,
  })
  .map((parts) => formatAsset(parts))
const name = unsigned(64n).map(bigIntToName)
const key = (kind: KeyKind, length: number) =>
  fc
    .tuple(fc.nat(1), fc.uint8Array({ minLength: length, maxLength: length }))
    .map(([curve, data]) => keyText(kind, curve, data))

// Generates only values that both decoders print identically: finite, well-formed and in range.
const builtins: Record<BuiltinName, fc.Arbitrary<unknown>> = {
  bool: fc.boolean(),
  int8: fc.integer({ min: -128, max: 127 }),
  uint8: fc.nat(255),
  int16: fc.integer({ min: -32768, max: 32767 }),
  uint16: fc.nat(65535),
  int32: fc.integer(),
  uint32: fc.nat(0xffffffff),
  int64: signed(64n),
  uint64: unsigned(64n),
  int128: signed(128n),
  uint128: unsigned(128n),
  varint32: fc.integer(),
  varuint32: fc.nat(0xffffffff),
  float32: fc.float({ noNaN: true, noDefaultInfinity: true }),
  float64: fc.double({ noNaN: true, noDefaultInfinity: true }),
  float128: hexOf(16),
  // The native library reads times up to the year 2106.
  time_point: fc.nat(4_294_967_295_999).map((ms) => formatEpochMicroseconds(BigInt(ms) * 1000n)),
  time_point_sec: fc.nat(0xffffffff).map(formatEpochSeconds),
  block_timestamp_type: fc.nat(0xffffffff).map((slot) => formatEpochMs(slotToEpochMs(slot))),
  name,
  bytes: fc.uint8Array({ maxLength: 40 }),
  string: fc.string({ unit: 'binary', maxLength: 60 }),
  checksum160: hexOf(20),
  checksum256: hexOf(32),
  checksum512: hexOf(64),
  public_key: key('PUB', 33),
  signature: key('SIG', 65),
  symbol: fc.tuple(fc.nat(18), symbolCode).map(([precision, code]) => formatSymbol(precision, code)),
  symbol_code: symbolCode,
  asset,
  bitset: fc.stringMatching(/^[01]{0,40}$/),
  extended_asset: fc.record({ quantity: asset, contract: name }),
}

const allBuiltins = Object.keys(builtins) as BuiltinName[]

const versions = ['1.0', '1.1', '1.2', '1.3'] as const

/**
 * Generates an ABI of any version: a few structs, variants and aliases that refer to each other, with recursion through
 * options and lists. `root` is the struct to decode; it may end with extension fields, which a row may lack.
 * Identifiers are valid contract identifiers. @param without types to leave out, because another decoder does not know
 * them.
 */
export function arbitraryAbi(
  g: fc.GeneratorValue,
  without: readonly BuiltinName[] = [],
): { abi: AbiDefinition; root: string } {
  const builtinNames = allBuiltins.filter((each) => !without.includes(each))
  const pick = (names: readonly string[]) => g(() => fc.constantFrom(...names))
  const structCount = 1 + g(() => fc.nat(3))
  const structs = Array.from({ length: structCount }, (_, i) => `struct${i}`)
  const aliases = ['alias0', 'alias1'].map((alias) => ({
    new_type_name: alias,
    type: `${pick(builtinNames)}[]`,
  }))
  // No struct contains itself directly: a struct may contain only later structs directly. An option, a list or a
  // variant may contain any struct.
  const direct = (index: number): string[] => [
    ...builtinNames,
    'alias0',
    'alias1',
    ...structs.slice(index + 1),
  ]
  const indirect = [...builtinNames, 'variant0', ...structs]
  const fieldType = (index: number): string => {
    const form = g(() => fc.nat(9))
    if (form === 0) return `${pick(indirect)}[]`
    if (form === 1) return `${pick(indirect)}?`
    return form === 2 ? 'variant0' : pick(direct(index))
  }
  const version = g(() => fc.constantFrom(...versions))
  const extensions = Array.from({ length: g(() => fc.nat(2)) }, (_, i) => ({
    name: `e${i}`,
    // Types of extension fields take at least one byte: a present field without bytes would look like an absent field.
    // Only the first extension field needs a `$`.
    type: `${g(() => fc.boolean()) ? pick(builtinNames) : `${pick(indirect)}${g(() => fc.constantFrom('?', '[]'))}`}${g(() => fc.constantFrom('$', '$', '$', ''))}`,
  }))
  const row = { name: 'row', base: 'struct0', fields: extensions }
  const abi = normalizeAbiJson({
    version: `eosio::abi/${version}`,
    types: aliases,
    structs: structs
      .map((struct, index): AbiStruct => {
        const fields = Array.from({ length: g(() => fc.nat(6)) }, (_, i) => ({
          name: `f${i}x${index}`,
          type: fieldType(index),
        }))
        const base = index + 1 < structCount && g(() => fc.nat(4)) === 0 ? structs[index + 1]! : ''
        return { name: struct, base, fields }
      })
      .concat(row),
    variants: [
      { name: 'variant0', types: ['uint8', ...new Set([pick(builtinNames), pick(structs)])].filter(unique) },
    ],
  })
  return { abi: { ...abi, ...laterSections(version) }, root: 'row' }
}

/** ABI sections `action_results` and `kv_tables`, which ABI versions added after the variants. */
function laterSections(version: (typeof versions)[number]): Partial<AbiDefinition> {
  const action_results = [{ name: 'act', result_type: 'row' }]
  if (version === '1.2') {
    const table = { type: 'row', primary_index: { name: 'pk', type: 'name' }, secondary_indices: {} }
    return { action_results, kv_tables: { kv: table } }
  }
  if (version !== '1.3') return {}
  const calls = [{ name: 'ask', type: 'row', id: '18446744073709551615' }]
  return { action_results, calls, call_results: [{ name: 'ask', result_type: 'row' }] }
}

function unique<T>(item: T, index: number, list: readonly T[]): boolean {
  return list.indexOf(item) === index
}

const VALUES = 60
const DEEPEST = 5

/**
 * Generates a value of a type. With growing depth or size, options and lists become empty and variants avoid structs;
 * otherwise recursion would never end.
 */
export function arbitraryValue(
  g: fc.GeneratorValue,
  node: TypeNode,
  depth = 0,
  room = { left: VALUES },
): unknown {
  const mayGrow = depth < DEEPEST && room.left > 0
  const inside = (inner: TypeNode): unknown => arbitraryValue(g, inner, depth + 1, room)
  room.left--
  switch (node.kind) {
    case 'builtin':
      return g(() => builtins[node.name])
    case 'optional':
      return mayGrow && g(() => fc.boolean()) ? inside(node.inner) : null
    case 'array': {
      const length = node.length ?? (mayGrow ? g(() => fc.nat(3)) : 0)
      const items = Array.from({ length }, () => inside(node.element))
      const isBytes = node.element.kind === 'builtin' && node.element.name === 'uint8'
      return isBytes ? Uint8Array.from(items as number[]) : items
    }
    case 'variant': {
      const chosen = node.alternatives[mayGrow ? g(() => fc.nat(node.alternatives.length - 1)) : 0]!
      return [chosen.name, inside(chosen.type)]
    }
    case 'struct': {
      const required = node.fields.findLastIndex((field) => !field.extension) + 1
      const present = g(() => fc.integer({ min: required, max: node.fields.length }))
      return Object.fromEntries(
        node.fields.slice(0, present).map((field) => [field.name, inside(field.type)]),
      )
    }
  }
}
