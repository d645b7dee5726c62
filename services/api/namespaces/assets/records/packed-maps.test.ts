import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bytesToHex, DecodeError, hexToBytes } from '../../../../core/bytes/index.ts'
import { compileAbi } from '../../../../core/antelope/decoder/index.ts'
import { normalizeAbiJson } from '../../../../core/antelope/abi/index.ts'
import { packageRoot } from '../../../../core/paths/index.ts'
import { changedDataMembers } from './packed-maps.ts'

/** Packs the attribute maps of a change as the contract does: header fields first, then the maps. */
function pack(
  version: string,
  action: string,
  head: Record<string, unknown>,
  spelling: readonly [string, string],
) {
  const file = join(packageRoot, 'tests/fixtures/contracts', `${version}.abi.json`)
  const abi = compileAbi(normalizeAbiJson(JSON.parse(readFileSync(file, 'utf8'))))
  const pairs = (list: readonly (readonly [string, readonly [string, unknown]])[]) =>
    list.map(([key, value]) => ({ [spelling[0]]: key, [spelling[1]]: value }))
  return (old: Parameters<typeof pairs>[0], changed: Parameters<typeof pairs>[0]): Uint8Array => {
    const encode = abi.encoder(action)
    const whole = encode({ ...head, old_data: pairs(old), new_data: pairs(changed) })
    const empty = encode({ ...head, old_data: [], new_data: [] })
    return whole.subarray(empty.length - 2)
  }
}

const ofAsset = { asset_owner: 'alice', asset_id: 1n }
const ofTemplate = { collection_name: 'alice', schema_name: 'cards', template_id: 7 }

function read(packed: Uint8Array): unknown {
  return JSON.parse(`{${changedDataMembers(packed)}}`)
}

/** Every alternative of an attribute: value for the encoder, and the expected JSON. */
const values: readonly (readonly [type: string, value: unknown, json: unknown])[] = [
  ['int8', -128, -128],
  ['int16', -32768, -32768],
  ['int32', -2147483648, -2147483648],
  ['int64', -(2n ** 63n), '-9223372036854775808'],
  ['uint8', 255, 255],
  ['uint16', 65535, 65535],
  ['uint32', 4294967295, 4294967295],
  ['uint64', 2n ** 64n - 1n, '18446744073709551615'],
  ['float32', 0.6197762, Math.fround(0.6197762)],
  ['float64', NaN, null],
  ['string', 'a\0b "quoted" 測試 🦊 \\u0000', 'a b "quoted" 測試 🦊 \\u0000'],
  ['INT16_VEC', [-1, 1], [-1, 1]],
  ['INT32_VEC', [], []],
  ['INT64_VEC', [2n ** 63n - 1n], ['9223372036854775807']],
  ['UINT16_VEC', [1], [1]],
  ['UINT32_VEC', [4294967295], [4294967295]],
  ['UINT64_VEC', [0n], ['0']],
  ['FLOAT_VEC', [-0.5, Infinity], [-0.5, null]],
  ['DOUBLE_VEC', [5e-324, 1e21], [5e-324, 1e21]],
  ['STRING_VEC', ['', 'x\0'], ['', 'x ']],
]

describe('packed attribute maps', () => {
  it.each([
    ['assets.v1', 'logsetdata', ofAsset, ['key', 'value']],
    ['assets.v2', 'logsetdatatl', ofTemplate, ['key', 'value']],
    ['assets.v2.cdt4', 'logsetdatatl', ofTemplate, ['first', 'second']],
  ] as const)(
    'packed attribute maps of %s %s give the expected JSON for every attribute type',
    (version, action, head, spelling) => {
      const packed = pack(version, action, head, spelling)
      for (const [type, value, json] of values) {
        const bytes = packed(
          [['was', ['string', 'old']]],
          [
            ['k\0', [type, value]],
            ['z', ['uint8', 1]],
          ],
        )
        expect(read(bytes)).toEqual({
          old_data: [{ key: 'was', value: ['string', 'old'] }],
          new_data: [
            { key: 'k ', value: [type, json] },
            { key: 'z', value: ['uint8', 1] },
          ],
        })
      }
      expect(read(packed([], []))).toEqual({ old_data: [], new_data: [] })
    },
  )

  it('vectors of bytes in packed attribute maps are unpacked as numbers, signed for INT8_VEC', () => {
    // No pair in the first map, one in the second: key `v`, alternative 11 (INT8_VEC) or 15 (UINT8_VEC), four bytes.
    const change = (alternative: string) => hexToBytes(`00010176${alternative}047f00ff80`)
    expect(read(change('0b'))).toMatchObject({
      new_data: [{ key: 'v', value: ['INT8_VEC', [127, 0, -1, -128]] }],
    })
    expect(read(change('0f'))).toMatchObject({
      new_data: [{ key: 'v', value: ['UINT8_VEC', [127, 0, 255, 128]] }],
    })
  })

  it('packed attribute maps that are truncated or contain an unknown type are refused', () => {
    const bytes = pack('assets.v1', 'logsetdata', ofAsset, ['key', 'value'])([], [['k', ['string', 'text']]])
    for (let length = 0; length < bytes.length; length++) {
      expect(() => changedDataMembers(bytes.subarray(0, length)), bytesToHex(bytes)).toThrow(DecodeError)
    }
    expect(() => changedDataMembers(hexToBytes('00010176ff'))).toThrow(DecodeError)
  })
})
