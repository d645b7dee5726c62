import { describe, expect, it } from 'vitest'
import { readAbi } from '../../../tests/decode/recordings.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { toPlain } from './json-text.ts'

const bytes = Uint8Array.of(0, 127, 128, 255)
const unsigned = [0, 127, 128, 255]
const signed = [0, 127, -128, -1]

describe.each(['assets.v1', 'assets.v2', 'assets.v2.cdt4'])('bytes in actions of %s as JSON', (version) => {
  const abi = compileAbi(readAbi(version))
  const [key, value] = version.endsWith('cdt4') ? ['first', 'second'] : ['key', 'value']

  it.each([
    ['createcol', { author: 'bob', market_fee: 0, allow_notify: true }],
    ['setcoldata', {}],
  ])('action %s: bytes become signed numbers in INT8_VEC, and unsigned in UINT8_VEC', (action, head) => {
    const type = abi.actionType(action)!
    const pairs = ['INT8_VEC', 'UINT8_VEC'].map((name) => ({ [key]: name, [value]: [name, bytes] }))
    const fields = {
      ...head,
      collection_name: 'cards',
      authorized_accounts: [],
      notify_accounts: [],
      data: pairs,
    }
    const decoded = abi.decoder(type)(abi.encoder(type)(fields))
    expect(toPlain(decoded)).toMatchObject({
      data: [
        { key: 'INT8_VEC', value: ['INT8_VEC', signed] },
        { key: 'UINT8_VEC', value: ['UINT8_VEC', unsigned] },
      ],
    })
  })
})

it('bytes without a type become unsigned numbers, and bytes of the type int8[] become signed numbers', () => {
  expect(toPlain({ data: bytes, parts: [bytes, bytes], pair: ['bytes', bytes] })).toEqual({
    data: unsigned,
    parts: [unsigned, unsigned],
    pair: ['bytes', unsigned],
  })
  expect(toPlain(['int8[]', bytes])).toEqual(['int8[]', signed])
})
