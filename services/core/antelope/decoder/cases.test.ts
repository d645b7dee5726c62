import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DecodeError } from '../../bytes/index.ts'
import { normalizeAbiJson, packAbi, parsePackedAbi } from '../abi/index.ts'
import { compileAbi } from './compile.ts'

interface Case {
  readonly case: string
  readonly abi: unknown
  /** Bytes (hexadecimal) that the test appends to the packed ABI before decoding the ABI. */
  readonly packedTail?: string
  readonly table: string
  readonly row: string
  /** Expected value; null if the decoder must refuse the row. */
  readonly value: unknown
}

const file = new URL('../../../../tests/fixtures/decode/abis.json', import.meta.url)
const cases = JSON.parse(readFileSync(file, 'utf8')) as Case[]

describe('the decoder returns the expected value of a table row, or refuses the row', () => {
  it.each(cases)('$case', ({ abi: json, packedTail, table, row, value }) => {
    const packed = Buffer.concat([packAbi(normalizeAbiJson(json)), Buffer.from(packedTail ?? '', 'hex')])
    for (const rule of ['strict', 'lossless', 'contract'] as const) {
      const abi = compileAbi(parsePackedAbi(packed), rule)
      const type = abi.tableType(table)!
      const decode = (): unknown =>
        abi.toJson(type, abi.decoder(type, { exact: true })(Buffer.from(row, 'hex')), 'node')
      if (value === null) expect(decode).toThrow(DecodeError)
      else expect(decode()).toEqual(value)
    }
  })

  it('the packed ABI of the test cases has the section kv_tables', () => {
    const { abi, packedTail } = cases.find((each) => each.packedTail !== undefined)!
    const packed = Buffer.concat([packAbi(normalizeAbiJson(abi)), Buffer.from(packedTail!, 'hex')])
    expect(Object.values(parsePackedAbi(packed).kv_tables!)).toEqual([
      { type: 'row', primary_index: { name: 'pk', type: 'name' }, secondary_indices: {} },
    ])
  })
})

const values = compileAbi(
  normalizeAbiJson({
    structs: [
      {
        name: 's',
        fields: [
          { name: 'a', type: 'uint8' },
          { name: 'b', type: 'v[]' },
        ],
      },
    ],
    variants: [
      { name: 'v', types: ['bool', 'asset', 'symbol', 'symbol_code', 'string', 'bitset', 'extended_asset'] },
    ],
  }),
  'lossless',
)
const EOS = '04454f5300000000'

describe('the decoder refuses a value that no chain can contain, and reports its path', () => {
  it.each([
    ['a bool of 7', '0007'],
    ['an asset of 2^62', `010000000000000040${EOS}`],
    ['an asset of -2^62', `0100000000000000c0${EOS}`],
    ['an asset with 19 decimals', '01010000000000000013454f5300000000'],
    ['an asset with small letters', '01010000000000000004656f7300000000'],
    ['a symbol with a gap', '0204450045000000'],
    ['a symbol code of digits', '033132330000000000'],
    ['a symbol code with a gap', '034100420000000000'],
    ['a text that is not UTF-8', '0402c328'],
    ['a long text that is not UTF-8', `041e${'61'.repeat(29)}ff`],
    ['a bitset with bits beyond its size', '050533'],
    ['an extended asset of 2^62', `060000000000000040${EOS}0000000000ea3055`],
  ])('%s', (_, hex) => {
    const decode = (): unknown => values.decodeType('s', Buffer.from(`0001${hex}`, 'hex'))
    expect(decode).toThrow(DecodeError)
    expect(decode).toThrow('s.b[0]')
  })

  it.each([
    ['asset', `ffffffffffffff3f${EOS}`, '461168601842738.7903 EOS'],
    ['asset', `01000000000000c0${EOS}`, '-461168601842738.7903 EOS'],
    ['asset', '00000000000000000000000000000000', '0 '],
    ['symbol', '1241424344454647', '18,ABCDEFG'],
    ['symbol_code', '4142434445464748', 'ABCDEFGH'],
    ['string', '03efbfbd', '\ufffd'],
    ['bitset', '00', ''],
    ['bitset', '100180', '1000000000000001'],
    ['name', 'ffffffffffffffff', 'zzzzzzzzzzzzj'],
    ['time_point', '0000000000000080', '-infinity'],
    ['time_point', '00a028e2ebffffff', '-240000'],
    ['time_point', '809476deebffffff', '-240102'],
    ['time_point', 'ffffffffffffff7f', '294247-01-10T04:00:54.775'],
  ])('the decoder accepts the extreme value: %s %s', (type, hex, text) => {
    const bytes = Buffer.from(hex, 'hex')
    expect(values.decodeType(type, bytes)).toBe(text)
    if (!hex.endsWith('ff7f')) expect(Buffer.from(values.encoder(type)(text))).toEqual(bytes)
  })

  it('the decoding rule "contract" reads a bool byte of 7 as true, the rule "strict" refuses the byte; both rules accept text that is not UTF-8', () => {
    const of = (rule: 'strict' | 'contract') => compileAbi(normalizeAbiJson({}), rule)
    expect(of('contract').decodeType('bool', Uint8Array.of(7))).toBe(true)
    expect(() => of('strict').decodeType('bool', Uint8Array.of(7))).toThrow(DecodeError)
    for (const rule of ['strict', 'contract'] as const)
      expect(of(rule).decodeType('string', Buffer.from('02c328', 'hex'))).toBe('\ufffd(')
  })
})
