import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAbi } from '../../../../tests/decode/recordings.ts'
import { packageRoot } from '../../paths/index.ts'
import { compileAbi } from './compile.ts'
import { DecodeError, EncodeError } from '../../bytes/index.ts'
import { formatAsset, parseAsset } from '../values/asset.ts'
import { hexToBytes } from '../../bytes/index.ts'
import { normalizeAbiJson } from '../abi/index.ts'
import type { AbiField } from '../abi/definition.ts'
import type { CompiledAbi } from './compile.ts'

interface Vector {
  name: string
  abi: string
  type: string
  value: unknown
  hex: string
}

const file = join(packageRoot, 'tests/fixtures/contracts/test-vectors.json')
const vectors = (JSON.parse(readFileSync(file, 'utf8')) as { abi: Vector[] }).abi

function structAbi(fields: AbiField[], rest: object = {}): CompiledAbi {
  return compileAbi(normalizeAbiJson({ structs: [{ name: 's', base: '', fields }], ...rest }))
}

const field = (type: string, name = 'a'): AbiField => ({ name, type })

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe('the compiled decoder matches the test vectors of an independent encoder', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))(
    '%s',
    (_, { abi: name, type, value, hex }) => {
      const abi = compileAbi(readAbi(name === 'builtin' ? 'token' : name))
      expect(Buffer.from(abi.encoder(type)(value)).toString('hex')).toBe(hex)
      const decoded = abi.decoder(type, { exact: true })(hexToBytes(hex))
      expect(JSON.parse(JSON.stringify(abi.toJson(type, decoded)))).toEqual(value)
    },
  )
})

describe('decoded values', () => {
  it('decoded ABI values have the documented JavaScript types', () => {
    const types =
      'bool int8 uint8 int16 uint32 int64 uint64 uint128 int128 varuint32 varint32 float32 float64 name asset ' +
      'symbol symbol_code extended_asset checksum160 bytes uint8[] string time_point time_point_sec ' +
      'block_timestamp_type uint16? uint16[] uint8[3] float128'
    const fields = types.split(' ').map((type, i) => field(type, `f${i}`))
    const abi = structAbi(fields)
    const values = [
      true,
      -1,
      255,
      -2,
      4294967295,
      -(2n ** 63n),
      2n ** 64n - 1n,
      2n ** 128n - 1n,
      -1n,
      300,
      -300,
      1.5,
      -0.1,
      'alice',
      '-1.50 ABC',
      '8,WAX',
      'WAX',
      { quantity: '1 A', contract: 'b' },
      'ab'.repeat(20),
      Uint8Array.of(1, 2),
      Uint8Array.of(3),
      'é€😀',
      '2026-11-20T09:34:09.123',
      '2026-11-20T09:34:09',
      '2026-11-20T09:34:09.500',
      null,
      [1, 2],
      Uint8Array.of(7, 8, 9),
      '01'.repeat(16),
    ]
    const input = Object.fromEntries(values.map((value, i) => [`f${i}`, value]))
    const decoded = abi.decoder<typeof input>('s', { exact: true })(abi.encoder('s')(input))
    const read = Object.values(decoded).map((v) => (v instanceof Uint8Array ? new Uint8Array(v) : v))
    expect(read).toEqual(values)
  })

  it('a decoded bytes value is a view of the input, not a copy', () => {
    const bytes = Buffer.from('03010203', 'hex')
    const view = structAbi([field('bytes')]).decoder<{ a: Uint8Array }>('s')(bytes).a
    bytes[1] = 9
    expect([...view]).toEqual([9, 2, 3])
  })

  it('the decoder replaces invalid UTF-8 in strings', () => {
    const abi = structAbi([field('string')])
    expect(abi.decodeType('s', hexToBytes('02fffe'))).toEqual({ a: '\ufffd\ufffd' })
  })

  it('assets and symbols of any bytes round-trip through text, or are refused', () => {
    const abi = structAbi([field('asset'), field('symbol', 'b'), field('symbol_code', 'c')])
    const code = (length: number) =>
      fc
        .stringMatching(new RegExp(`^[@-[]{0,${length}}$`))
        .map((text) => Buffer.from(text.padEnd(length, '\0')))
    const symbol = fc.tuple(fc.nat(20), code(7)).map(([precision, rest]) => Buffer.from([precision, ...rest]))
    const amount = fc.uint8Array({ minLength: 8, maxLength: 8 })
    let decoded = 0
    fc.assert(
      fc.property(amount, symbol, symbol, code(8), (...parts) => {
        const bytes = new Uint8Array(Buffer.concat(parts))
        let value: { a: string }
        try {
          value = abi.decoder<{ a: string }>('s', { exact: true })(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError)
          return
        }
        decoded++
        expect(formatAsset(parseAsset(value.a))).toBe(value.a)
        expect(abi.encoder('s')(value)).toEqual(bytes)
      }),
      { numRuns: 2000, seed: 20261127 },
    )
    expect(decoded).toBeGreaterThan(100)
  })

  it('the decoder preserves fields named __proto__ and constructor', () => {
    const abi = structAbi([
      field('uint8', '__proto__'),
      field('uint8$', 'constructor'),
      field('uint8$', '__proto__'),
    ])
    const decoded = abi.decodeType('s', hexToBytes('0102'))
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype)
    expect(JSON.stringify(decoded)).toBe('{"__proto__":1,"constructor":2}')
    expect(JSON.stringify(abi.toJson('s', decoded))).toBe('{"__proto__":1,"constructor":2}')
  })

  it('a field name may be any text, and the generated code does not execute it', () => {
    const name = '"};globalThis.broken=1;//\u2028\n${x}`'
    const abi = structAbi([field('uint8', name), field('uint8$', `${name}2`), field('v', 'v')], {
      variants: [{ name: 'v', types: ['uint8'] }],
    })
    expect(abi.decodeType('s', hexToBytes('01030002'))).toEqual({
      [name]: 1,
      [`${name}2`]: 3,
      v: ['uint8', 2],
    })
    expect('broken' in globalThis).toBe(false)
  })
})

describe('decoded structs', () => {
  const based = normalizeAbiJson({
    types: [{ new_type_name: 'parent', type: 'base' }],
    structs: [
      { name: 'base', base: '', fields: [field('uint8', 'x')] },
      {
        name: 'child',
        base: 'parent',
        fields: [field('uint8', 'y'), field('uint8$', 'z'), field('string$', 'w')],
      },
    ],
  })

  it('a decoded struct has the fields of its base struct first', () => {
    expect(compileAbi(based).decodeType('child', hexToBytes('0102'))).toEqual({ x: 1, y: 2 })
  })

  it('a decoded struct omits extension fields that the data does not contain', () => {
    const abi = compileAbi(based)
    expect(abi.decodeType('child', hexToBytes('010203'))).toEqual({ x: 1, y: 2, z: 3 })
    expect(abi.decodeType('child', hexToBytes('0102030141'))).toEqual({ x: 1, y: 2, z: 3, w: 'A' })
    expect(abi.encoder('child')({ x: 1, y: 2 })).toEqual(hexToBytes('0102'))
    expect(() => abi.encoder('child')({ x: 1, y: 2, w: 'A' })).toThrow('(at child.w)')
  })

  it('an extension field of a base struct cannot be absent if fields follow it', () => {
    const abi = compileAbi(
      normalizeAbiJson({
        structs: [
          { name: 'base', base: '', fields: [field('uint8', 'a'), field('uint8$', 'b')] },
          { name: 'child', base: 'base', fields: [field('uint8', 'c')] },
        ],
      }),
    )
    expect(abi.decodeType('child', hexToBytes('070809'))).toEqual({ a: 7, b: 8, c: 9 })
    expect(abi.decoder('child', { only: ['c'] })(hexToBytes('070809'))).toEqual({ c: 9 })
    expect(abi.encoder('child')({ a: 7, b: 8, c: 9 })).toEqual(hexToBytes('070809'))
    expect(() => abi.decodeType('child', hexToBytes('0708'))).toThrow(DecodeError)
    expect(() => abi.encoder('child')({ a: 7, c: 9 })).toThrow('(at child.c)')
  })

  it('the decoder of selected struct fields stops reading after the last selected field', () => {
    const abi = compileAbi(readAbi('assets.v2'))
    const row = hexToBytes(vectors.find(({ name }) => name === 'assets_row')!.hex)
    const some = abi.decoder('assets_s', { only: ['ram_payer', 'asset_id'] })
    expect(some(row)).toEqual({ asset_id: 1099511627776n, ram_payer: 'minter' })
    expect(some(row.subarray(0, 40))).toEqual({ asset_id: 1099511627776n, ram_payer: 'minter' })
    expect(() => some(row.subarray(0, 30))).toThrow(DecodeError)
    expect(abi.decoder('assets_s', { only: [] })(row)).toEqual({})
    const last = abi.decoder('assets_s', { only: ['mutable_serialized_data'] })
    expect(last(row)).toEqual({ mutable_serialized_data: Buffer.alloc(0) })
  })

  it('the decoder of selected struct fields skips exactly the bytes of a field of any type', () => {
    const abi = compileAbi(readAbi('ship.leap'))
    for (const { type, hex, abi: name } of vectors) {
      if (!name.startsWith('ship')) continue
      const types = compileAbi(
        normalizeAbiJson({
          ...readAbi(name),
          structs: [
            ...readAbi(name).structs,
            { name: 'pair', base: '', fields: [field(type, 'x'), field('uint16', 'y')] },
          ],
        }),
      )
      const bytes = hexToBytes(`${hex}2a00`)
      expect(types.decoder('pair', { only: ['y'] })(bytes)).toEqual({ y: 42 })
    }
    expect(abi.types.has('transaction_trace[]')).toBe(true)
  })
})

describe('decoding at a position', () => {
  const abi = compileAbi(readAbi('token'))

  it('the decoder reads a value at any position of a buffer', () => {
    const inner = Buffer.from('ffff0000000000ea3055ff', 'hex')
    const view = new Uint8Array(inner.buffer, inner.byteOffset, inner.length)
    const decode = abi.decoder('name')
    expect(decode(view, 2, 10)).toBe('eosio')
    expect(abi.decodeType('name', view.subarray(1), 1)).toBe('eosio')
    expect(() => decode(view, 2, 9)).toThrow(DecodeError)
    expect(() => decode(view, 2, 99)).toThrow(RangeError)
  })

  it('the ABI decoder refuses bytes after the value only with the option `exact`', () => {
    const bytes = hexToBytes('0000000000ea305500')
    expect(abi.decodeType('name', bytes)).toBe('eosio')
    expect(() => abi.decoder('name', { exact: true })(bytes)).toThrow(
      '1 bytes are left over after the value (at name, byte 8)',
    )
  })

  it('a compiled ABI returns the type of an action and of a table by name', () => {
    const assets = compileAbi(readAbi('assets.v2'))
    expect(assets.actionType('logmint')).toBe('logmint')
    expect(assets.actionType('__proto__')).toBeUndefined()
    expect(assets.tableType('assets')).toBe('assets_s')
    expect(assets.tableType('nothing')).toBeUndefined()
  })
})

describe('variable-length integers', () => {
  const variants = { variants: [{ name: 'v', types: ['uint8', 'uint16'] }] }
  const reading = (type: string, rule?: 'contract') => {
    const fields = [field(type), field('uint8', 'b')]
    return compileAbi(normalizeAbiJson({ structs: [{ name: 's', base: '', fields }], ...variants }), rule)
  }
  const one = '818080808000'
  const key = '02'.repeat(33)

  it.each([
    ['varuint32', 'ffffffff0f', 2 ** 32 - 1],
    ['varuint32', 'ffffffff7f', 2 ** 32 - 1],
    ['varuint32', '8180808010', 1],
    ['varuint32', one, 1],
    ['varuint32', `81${'80'.repeat(1000)}00`, 1],
    ['varuint32', '808080808001', 8],
    ['varuint32', `${'80'.repeat(32)}05`, 5],
    ['varint32', one, -1],
    ['uint16[]', `${one}0700`, [7]],
    ['string[]', `${one}${one}41`, ['A']],
    ['string', `82${'80'.repeat(11)}004142`, 'AB'],
    ['v', `${one}0700`, ['uint16', 7]],
    ['bytes', `${one}09`, Buffer.of(9)],
    ['uint8[]', `${one}09`, Buffer.of(9)],
  ])(
    'the decoding rule "contract" reads variable-length integers as a contract does: %s, case %#',
    (type, hex, value) => {
      const bytes = hexToBytes(`${hex}2a`)
      const abi = reading(type, 'contract')
      expect(abi.decoder('s', { exact: true })(bytes)).toEqual({ a: value, b: 42 })
      expect(abi.decoder('s', { only: ['b'] })(bytes)).toEqual({ b: 42 })
    },
  )

  it('the decoding rule "contract" reads the key type of a public key as a variable-length integer', () => {
    const text = (hex: string) => reading('public_key', 'contract').decodeType('s', hexToBytes(`${hex}2a`))
    expect(text(`${one}${key}`)).toEqual(text(`01${key}`))
    expect(text(`${one}${key}`)).toMatchObject({ a: expect.stringMatching(/^PUB_R1_/) as string, b: 42 })
  })

  it.each([
    ['varuint32', '80'.repeat(2000), 's.a', 'too early'],
    ['uint16[]', `${one}07`, 's.a', 'do not fit'],
    ['string', one, 's.a', 'exceeds'],
    ['v', '828080808000', 's.a', 'no alternative 2'],
  ])(
    'an error in a variable-length integer contains the path of the field: %s',
    (type, hex, path, message) => {
      const error = thrownBy(() => reading(type, 'contract').decodeType('s', hexToBytes(hex)))
      expect(error).toBeInstanceOf(DecodeError)
      expect(error).toMatchObject({ path })
      expect((error as Error).message).toContain(message)
    },
  )

  it.each(['varuint32', 'varint32', 'uint16[]', 'v', 'public_key'])(
    'the default decoding rule refuses variable-length integers above 32 bits: %s',
    (type) => {
      const error = thrownBy(() => reading(type).decodeType('s', hexToBytes(`${one}${key}2a`)))
      expect((error as Error).message).toContain('more than 32 bits')
    },
  )

  it('two compiled ABIs with different decoding rules do not affect each other', () => {
    const [strict, contract] = [reading('varuint32'), reading('varuint32', 'contract')]
    for (let i = 0; i < 2; i++) {
      expect(contract.decodeType('s', hexToBytes(`${one}2a`))).toEqual({ a: 1, b: 42 })
      expect(() => strict.decodeType('s', hexToBytes(`${one}2a`))).toThrow('more than 32 bits')
    }
  })
})

describe('errors of the ABI decoder and encoder', () => {
  it('an error of the ABI decoder contains the path and the offset of the faulty field', () => {
    const abi = compileAbi(readAbi('assets.v2'))
    const mint = vectors.find(({ name }) => name === 'logmint_no_template')!
    const broken = hexToBytes(mint.hex)
    broken[51] = 0x7f
    expect(thrownBy(() => abi.decodeType('logmint', broken))).toMatchObject({
      code: 'DECODE_FAILED',
      path: 'logmint.immutable_data[0].value',
      offset: 51,
    })
  })

  it.each([
    ['uint32[]', 'ffffffff0f', 's.a', 'elements'],
    ['string', '05414243', 's.a', 'exceeds'],
    ['varuint32', 'ffffffffff01', 's.a', '32 bits'],
    ['varuint32', 'ffffffff1f', 's.a', '32 bits'],
    ['string?', '01', 's.a', 'too early'],
    ['v', '02', 's.a', 'no alternative 2'],
    ['v[]', '0200010105', 's.a[1]', 'too early'],
    ['public_key', '03'.padEnd(70, '0'), 's.a', 'key type 3'],
    ['asset[2]', '00'.repeat(20), 's.a[1]', 'too early'],
  ])('an error of the ABI decoder names field and cause: type %s, bytes %s', (type, hex, path, message) => {
    const abi = structAbi([field(type)], { variants: [{ name: 'v', types: ['uint8', 'uint16'] }] })
    const error = thrownBy(() => abi.decodeType('s', hexToBytes(hex)))
    expect(error).toBeInstanceOf(DecodeError)
    expect(error).toMatchObject({ path })
    expect((error as Error).message).toContain(message)
  })

  it.each([
    ['uint8', 256, 'integer from 0 to 255'],
    ['int64', 2n ** 63n, '64 bits'],
    ['uint64', 2 ** 53, '64 bits'],
    ['uint64', '-1', '64 bits'],
    ['bool', 'x', 'true or false'],
    ['name', 'Alice', 'character'],
    ['checksum256', 'ff', '32 bytes'],
    ['uint8[]', 3, 'list'],
    ['uint8[2]', [1], 'list of 2'],
    ['v', ['uint64', 1], 'no type'],
    ['v', 'uint8', 'pair'],
    ['time_point_sec', '2200-01-01T00:00:00', 'integer'],
    ['float64', 'much', 'number'],
    ['uint8', undefined, 'missing'],
  ])('an error of the ABI encoder names field and cause: type %s, case %#', (type, value, message) => {
    const abi = structAbi([field(type)], { variants: [{ name: 'v', types: ['uint8', 'uint16'] }] })
    const error = thrownBy(() => abi.encoder('s')({ a: value }))
    expect(error).toBeInstanceOf(EncodeError)
    expect(error).toMatchObject({ code: 'ENCODE_FAILED', path: 's.a' })
    expect((error as Error).message).toContain(message)
  })
})
