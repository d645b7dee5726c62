import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAbi } from '../../../../tests/decode/recordings.ts'
import { packageRoot } from '../../paths/index.ts'
import { attributeMapToJson, encodeAttributeMap } from './map.ts'
import { attributesToJsonText } from './json-text.ts'
import { compileAbi } from '../decoder/index.ts'
import { decodeAttributes } from './decode.ts'
import { DecodeError, EncodeError } from '../../bytes/index.ts'
import { encodeAttributes } from './encode.ts'
import { hexToBytes } from '../../bytes/index.ts'
import type { AttributeField } from './format.ts'

interface Vectors {
  format: AttributeField[]
  cases: { input: Record<string, unknown>; hex: string; decoded_json: unknown }[]
  identifier_cases: { index: number; type: string; value: number; hex: string }[]
  decoder_edge_cases: { note: string; hex: string; format?: AttributeField[]; decoded_json?: unknown }[]
}

const file = join(packageRoot, 'tests/fixtures/contracts/test-vectors.json')
const vectors = (JSON.parse(readFileSync(file, 'utf8')) as { attributes: Vectors }).attributes
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const nameOnly: AttributeField[] = [{ name: 'name', type: 'string' }]

describe('attribute data matches the test vectors of an independent encoder', () => {
  it.each(vectors.cases.map((c) => [JSON.stringify(c.input), c] as const))(
    '%s',
    (_, { input, hex, decoded_json }) => {
      const { attributes, problem } = decodeAttributes(vectors.format, hexToBytes(hex))
      expect(problem).toBeUndefined()
      expect(plain(attributes)).toEqual(decoded_json)
      expect(Buffer.from(encodeAttributes(vectors.format, input)).toString('hex')).toBe(hex)
    },
  )

  it.each(vectors.identifier_cases)(
    'the decoder and the encoder of attribute data use the same identifier for field $index',
    ({ index, type, value, hex }) => {
      const format = Array.from({ length: index + 1 }, (_, i) => ({ name: `f${i}`, type }))
      expect(plain(decodeAttributes(format, hexToBytes(hex)))).toEqual({
        attributes: { [`f${index}`]: value },
      })
      expect(Buffer.from(encodeAttributes(format, { [`f${index}`]: value })).toString('hex')).toBe(hex)
    },
  )
})

describe('malformed attribute data', () => {
  const decode = (hex: string, format: AttributeField[] = vectors.format) =>
    plain(decodeAttributes(format, hexToBytes(hex)))

  it.each([
    ['identifier 0 ends the data', '04014100040142', nameOnly, { name: 'A' }],
    ['the last value of a repeated field counts', '040141040142', nameOnly, { name: 'B' }],
    ['NaN', '090000c07f', vectors.format, { speed: null }],
    ['infinity', '090000807f', vectors.format, { speed: null }],
    ['invalid UTF-8', '0402fffe', nameOnly, { name: '\ufffd\ufffd' }],
    ['a bool byte of 2', '0b02', vectors.format, { alive: 0 }],
    ['a number too large for its type becomes text', '06808004', vectors.format, { level: '65536' }],
    [
      'a signed number too large for its type becomes text',
      '07ffffffff1f',
      vectors.format,
      { delta: '-4294967296' },
    ],
    ['U+0000 becomes a space', '0403410042', nameOnly, { name: 'A B' }],
    ['a backslash before u0000 is preserved', '04065c7530303030', nameOnly, { name: '\\u0000' }],
    ['bytes', '05030102ff', [...nameOnly, { name: 'b', type: 'bytes' }], { b: [1, 2, 255] }],
    ['a list of ipfs', '0402020001010a', [{ name: 'i', type: 'ipfs[]' }], { i: ['12', 'B'] }],
  ])('the decoder accepts malformed attribute data: %s', (_, hex, format, expected) => {
    expect(decode(hex, format)).toEqual({ attributes: expected })
  })

  it.each([
    ['an unknown identifier', '0401411601', nameOnly, { name: 'A' }, 'format_too_short', 3],
    ['a reserved identifier', '0401410204', nameOnly, { name: 'A' }, 'corrupt', 3],
    ['a truncated text', '040141040541', nameOnly, { name: 'A' }, 'truncated', 3],
    ['a truncated identifier', '04014180', nameOnly, { name: 'A' }, 'truncated', 3],
    ['a number of 11 bytes', '0effffffffffffffffffff01', vectors.format, {}, 'corrupt', 0],
    ['a number above 64 bits', '0effffffffffffffffff02', vectors.format, {}, 'corrupt', 0],
    ['a count beyond the data', '0cffffffff0f', vectors.format, {}, 'truncated', 0],
    ['an identifier beyond every format', 'ffffffffffffffffff0101', nameOnly, {}, 'format_too_short', 0],
    ['an unknown type', '0401', [{ name: 'x', type: 'int128' }], {}, 'unknown_type', 0],
    ['a nested list', '0401', [{ name: 'x', type: 'int8[][]' }], {}, 'unknown_type', 0],
  ])('the decoder returns the attributes that precede %s', (_, hex, format, attributes, kind, offset) => {
    expect(decode(hex, format)).toMatchObject({ attributes, problem: { kind, offset } })
  })

  it('the decoder of attribute data throws no error for any bytes, and its result is bounded', () => {
    const types = [...vectors.format.map(({ type }) => type), 'ipfs[]', 'double[]', 'byte', 'nonsense']
    const format = types.map((type, i) => ({ name: `f${i}`, type }))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const { attributes } = decodeAttributes(format, bytes)
        expect(attributesToJsonText(attributes).length).toBeLessThan(4000)
      }),
      { numRuns: 5000 },
    )
  })

  it('the decoder of attribute data preserves a field named __proto__', () => {
    const format = [{ name: '__proto__', type: 'string' }]
    const { attributes } = decodeAttributes(format, hexToBytes('040141'))
    expect(attributesToJsonText(attributes)).toBe('{"__proto__":"A"}')
    expect(encodeAttributes(format, attributes)).toEqual(hexToBytes('040141'))
  })
})

describe('the encoder of attribute data', () => {
  it('the encoder of attribute data names the attribute whose value is out of range', () => {
    const format = [{ name: 'level', type: 'uint8' }]
    expect(() => encodeAttributes(format, { level: 256 })).toThrow('(at level)')
    expect(() => encodeAttributes(format, { level: '1' })).not.toThrow()
    expect(() => encodeAttributes([{ name: 'x', type: 'bytes' }], { x: [1] })).toThrow(EncodeError)
  })

  const scalars: Record<string, fc.Arbitrary<unknown>> = {
    uint8: fc.nat(255),
    uint16: fc.nat(65535),
    uint32: fc.nat(0xffffffff),
    uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    int8: fc.integer({ min: -128, max: 127 }),
    int16: fc.integer({ min: -32768, max: 32767 }),
    int32: fc.integer(),
    int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    fixed8: fc.nat(255),
    fixed16: fc.nat(65535),
    fixed32: fc.nat(0xffffffff),
    fixed64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    byte: fc.nat(255),
    bool: fc.constantFrom(0, 1),
    float: fc.float({ noNaN: true, noDefaultInfinity: true }),
    double: fc.double({ noNaN: true, noDefaultInfinity: true }),
    string: fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
    image: fc.string(),
    ipfs: fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{0,60}$/),
  }

  it('attribute data of any format round-trips through bytes', () => {
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const types = g(() => fc.array(fc.tuple(fc.constantFrom(...Object.keys(scalars)), fc.boolean())))
        const format = types.map(([type, list], i) => ({ name: `n${i}`, type: list ? `${type}[]` : type }))
        const attributes: Record<string, unknown> = {}
        types.forEach(([type, list], i) => {
          const scalar = scalars[type]!
          const value: unknown = list ? g(() => fc.array(scalar, { maxLength: 6 })) : g(() => scalar)
          if (i % 3 !== 2) attributes[`n${i}`] = value
        })
        const decoded = decodeAttributes(format, encodeAttributes(format, attributes))
        expect(decoded.problem).toBeUndefined()
        expect({ ...decoded.attributes }).toEqual(attributes)
      }),
      { numRuns: 500 },
    )
  })
})

describe('attribute maps in action data', () => {
  const pairs = [
    { key: 'alive', value: ['uint8', 1] },
    { key: 'nums', value: ['INT8_VEC', Uint8Array.of(255, 127, 128)] },
    { key: 'raw', value: ['UINT8_VEC', Uint8Array.of(255, 0)] },
    { key: 'wide', value: ['INT64_VEC', [-1n, 2n ** 62n]] },
    { key: 'real', value: ['float64', Infinity] },
    { key: '__proto__', value: ['string', 'a\0b'] },
  ]

  it('the reader of attribute maps returns the same JSON values as the decoder of attribute data', () => {
    const text = attributesToJsonText(attributeMapToJson(pairs))
    expect(text).toBe(
      '{"alive":1,"nums":[-1,127,-128],"raw":[255,0],"wide":["-1","4611686018427387904"],' +
        '"real":null,"__proto__":"a b"}',
    )
  })

  it('the reader of attribute maps accepts pairs with first and second as well as key and value', () => {
    const spelled = pairs.map(({ key, value }) => ({ first: key, second: value }))
    expect(attributeMapToJson(spelled)).toEqual(attributeMapToJson(pairs))
  })

  it('the reader of attribute maps refuses values that are no attribute map', () => {
    expect(() => attributeMapToJson({})).toThrow(DecodeError)
    expect(() => attributeMapToJson([{ key: 'a' }])).toThrow(DecodeError)
    expect(() => attributeMapToJson([{ key: 'a', value: ['string', {}] }])).toThrow(DecodeError)
  })

  it.each([
    ['assets.v2', 'key-value'],
    ['assets.v2.cdt4', 'first-second'],
  ] as const)('an attribute map round-trips through bytes with the ABI %s', (name, spelling) => {
    const abi = compileAbi(readAbi(name))
    const format = [
      { name: 'nums', type: 'int8[]' },
      { name: 'flags', type: 'bool[]' },
      { name: 'big', type: 'fixed64' },
      { name: 'img', type: 'ipfs' },
      { name: 'speed', type: 'float' },
      { name: 'absent', type: 'string' },
    ]
    const attributes = {
      nums: [-1, 127, -128],
      flags: [1, 0],
      big: '18446744073709551615',
      img: 'Qm',
      speed: 1.5,
    }
    const map = encodeAttributeMap(format, attributes, spelling)
    const packed = abi.encoder('ATTRIBUTE_MAP')(map)
    const read = attributeMapToJson(abi.decoder('ATTRIBUTE_MAP', { exact: true })(packed))
    expect({ ...read }).toEqual(attributes)
    expect(Object.keys(read)).toEqual(['big', 'flags', 'img', 'nums', 'speed'])
  })
})

describe('JSON text of attributes for PostgreSQL', () => {
  it.each([
    [{ a: '\0' }, '{"a":" "}'],
    [{ 'k\0': 1 }, '{"k ":1}'],
    [{ a: '\ud800' }, '{"a":"\ufffd"}'],
    [{ a: 'x\udc00y' }, '{"a":"x\ufffdy"}'],
    [{ a: '\u{1f600}' }, '{"a":"\u{1f600}"}'],
    [{ a: '\\u0000' }, '{"a":"\\\\u0000"}'],
    [{ a: 1n, b: ['\0', NaN] }, '{"a":"1","b":[" ",null]}'],
    [JSON.parse('{"__proto__":"\\u0000"}') as Record<string, unknown>, '{"__proto__":" "}'],
  ])(
    'JSON text of attributes is valid for PostgreSQL (no U+0000, no lone surrogates), case %#',
    (value, expected) => {
      expect(attributesToJsonText(value)).toBe(expected)
    },
  )
})
