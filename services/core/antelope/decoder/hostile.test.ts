import { describe, expect, it } from 'vitest'
import { AbiError, DecodeError, EncodeError } from '../../bytes/index.ts'
import { compileAbi } from './compile.ts'
import { normalizeAbiJson } from '../abi/index.ts'
import type { CompiledAbi } from './compile.ts'

// Builds a hostile ABI: any account may publish an ABI that is designed to exhaust its reader.

function abiOf(json: object): CompiledAbi {
  return compileAbi(normalizeAbiJson(json))
}

const struct = (name: string, ...types: string[]) => ({
  name,
  base: '',
  fields: types.map((type, i) => ({ name: `f${i}`, type })),
})

/** A chain of structs, each holding the next one `width` times. */
function pyramid(depth: number, width: number, leaf: string): object[] {
  return Array.from({ length: depth }, (_, i) =>
    struct(`s${i}`, ...new Array<string>(width).fill(i + 1 === depth ? leaf : `s${i + 1}`)),
  )
}

describe('ABIs with endless or oversized types', () => {
  it.each([
    ['an alias of itself', { types: [{ new_type_name: 'x', type: 'x' }] }],
    [
      'two aliases of each other',
      {
        types: [
          { new_type_name: 'x', type: 'y[]' },
          { new_type_name: 'y', type: 'x' },
        ],
      },
    ],
    ['a type that is not defined', { structs: [struct('x', 'nothing')] }],
    ['a struct that is its own base', { structs: [{ name: 'x', base: 'x', fields: [] }] }],
    ['a struct with a missing base', { structs: [{ name: 'x', base: 'y', fields: [] }] }],
    [
      'a struct whose base is a variant',
      { structs: [{ name: 'x', base: 'v', fields: [] }], variants: [{ name: 'v', types: [] }] },
    ],
    ['100,000 nested lists', { types: [{ new_type_name: 'x', type: `uint8${'[]'.repeat(100_000)}` }] }],
    ['300 nested structs', { structs: [...pyramid(300, 1, 'uint8'), struct('x', 's0')] }],
    ['a fixed list of 999,999,999 bytes', { types: [{ new_type_name: 'x', type: 'uint8[999999999]' }] }],
    ['a fixed list of fixed lists', { types: [{ new_type_name: 'x', type: 'string[60000][60000]' }] }],
    ['2^60 empty structs', { structs: [struct('e'), ...pyramid(60, 2, 'e'), struct('x', 's0')] }],
    ['2^60 bytes in structs', { structs: [...pyramid(60, 2, 'uint8'), struct('x', 's0')] }],
  ])('the ABI compiler refuses %s', (_, json) => {
    const abi = abiOf(json)
    expect(() => abi.decoder('x')).toThrow(AbiError)
    expect(() => abi.decoder('x')).toThrow(AbiError)
  })

  it('the ABI compiler refuses 300 nested structs even after the inner structs were resolved', () => {
    const abi = abiOf({ structs: pyramid(300, 1, 'uint8') })
    for (let i = 290; i > 240; i--) expect(abi.decodeType(`s${i}`, Uint8Array.of(1))).toBeTypeOf('object')
    expect(() => abi.decoder('s0')).toThrow(AbiError)
  })

  it('an undefined type makes only the types that contain it unusable', () => {
    const abi = abiOf({ structs: [struct('a', 'b?', 'nothing'), struct('b', 'a?'), struct('c', 'uint8')] })
    expect(() => abi.decoder('a')).toThrow(AbiError)
    expect(() => abi.decoder('b')).toThrow(AbiError)
    expect(abi.types.has('b')).toBe(false)
    expect(abi.decodeType('c', Uint8Array.of(5))).toEqual({ f0: 5 })
  })

  it.each([
    ['two structs of one name', { structs: [struct('x', 'uint8'), struct('x', 'uint16')] }],
    [
      'an alias named like a variant',
      { types: [{ new_type_name: 'x', type: 'uint8' }], variants: [{ name: 'x', types: [] }] },
    ],
    ['a type that is not defined', { structs: [struct('x', 'nowhere')] }],
    ['an alias of itself, used by structs', { types: [{ new_type_name: 'x', type: 'x' }] }],
  ])('only types that use an ambiguous, undefined or circular name are unusable: %s', (_, json: object) => {
    const structs = [
      ...('structs' in json ? (json.structs as object[]) : []),
      struct('user', 'x'),
      struct('child', 'uint8'),
      struct('other', 'uint8'),
    ]
    const abi = abiOf({ ...json, structs })
    expect(() => abi.decoder('x')).toThrow(AbiError)
    expect(() => abi.decoder('user[]')).toThrow(AbiError)
    expect(abi.decodeType('other', Uint8Array.of(7))).toEqual({ f0: 7 })
  })

  it('a struct that inherits from itself and a chain of more than 64 base structs cause different errors', () => {
    const based = (name: string, base: string) => ({ name, base, fields: [] })
    const chain = Array.from({ length: 70 }, (_, at) => based(`s${at}`, at === 0 ? '' : `s${at - 1}`))
    const compile = (structs: object[]) => () => abiOf({ structs }).decoder('x')
    expect(compile([based('x', 'y'), based('y', 'x')])).toThrow('struct "x" inherits from itself')
    expect(compile([...chain, based('x', 's69')])).toThrow('struct "x" has more than 64 bases')
  })

  it('a base struct with an ambiguous name is refused', () => {
    const structs = [struct('x', 'uint8'), struct('x'), { name: 'y', base: 'x', fields: [] }]
    expect(() => abiOf({ structs }).decoder('y')).toThrow('twice')
  })

  it('two identical definitions of a struct count as one', () => {
    expect(
      abiOf({ structs: [struct('x', 'int8'), struct('x', 'int8')] }).decodeType('x', Uint8Array.of(255)),
    ).toEqual({
      f0: -1,
    })
  })

  it.each([
    ['a struct', { structs: [struct('uint8', 'string')] }],
    ['an alias', { types: [{ new_type_name: 'uint8', type: 'string' }] }],
    ['a variant', { variants: [{ name: 'uint8', types: ['string'] }] }],
    ['a list', { types: [{ new_type_name: 'uint8[]', type: 'string' }] }],
  ])('a built-in type takes precedence over %s of the same name', (_, json) => {
    const abi = abiOf({ types: [], ...json })
    expect(abi.decodeType('uint8', Uint8Array.of(7))).toBe(7)
    expect(abi.decodeType('uint8[]?', Uint8Array.of(1, 1, 7))).toEqual(Buffer.from([7]))
  })

  it('the ABI compiler refuses a type with 100,000 brackets', () => {
    for (const type of [`${'[]'.repeat(100_000)}x`, `x${'[]'.repeat(100_000)}`, `x${'[9'.repeat(100_000)}`])
      expect(() => abiOf({}).decoder(type)).toThrow(AbiError)
  })

  it('a type may be named __proto__; constructor and toString are unknown types', () => {
    const abi = abiOf({ structs: [struct('__proto__', 'uint8')] })
    expect(abi.decodeType('__proto__', Uint8Array.of(3))).toEqual({ f0: 3 })
    expect(() => abi.decoder('constructor')).toThrow(AbiError)
    expect(() => abi.decoder('toString')).toThrow(AbiError)
  })
})

describe('few bytes that would decode to a large value', () => {
  it('the ABI decoder refuses a struct that contains itself', () => {
    const abi = abiOf({ structs: [struct('x', 'x')] })
    expect(() => abi.decodeType('x', new Uint8Array(10))).toThrow('nested more than 32 deep')
  })

  it('the ABI decoder refuses values nested more than 32 deep', () => {
    const abi = abiOf({ structs: [struct('x', 'x?', 'y[]'), struct('y', 'x')] })
    expect(abi.decodeType('x', Uint8Array.of(1, 0, 0, 0))).toEqual({ f0: { f0: null, f1: [] }, f1: [] })
    const error = () => abi.decodeType('x', new Uint8Array(100_000).fill(1))
    expect(error).toThrow(DecodeError)
    expect(error).toThrow('nested more than 32 deep')
  })

  it.each(['x', 'x?', 'x[]', 'y', 'x?[]'])(
    'the ABI decoder refuses values nested more than 32 deep, whichever type of a type cycle is decoded: %s',
    (type) => {
      const abi = abiOf({ structs: [struct('x', 'y?[]'), struct('y', 'x?')] })
      expect(() => abi.decodeType(type, new Uint8Array(100_000).fill(1))).toThrow('nested more than 32 deep')
    },
  )

  it.each(['a', 'b', 'a[]', 'b?[]'])(
    'the ABI decoder limits the number of empty structs in recursive types, whichever type of the cycle is decoded: %s',
    (type) => {
      // Each list element takes one byte but would decode to a thousand empty structs.
      const empties = new Array<string>(1000).fill('e')
      const abi = abiOf({ structs: [struct('e'), struct('a', 'b[]', ...empties), struct('b', 'a?')] })
      const bytes = Buffer.concat([Buffer.from([1, 1, 0xa0, 0x8d, 0x06]), Buffer.alloc(400_000, 1)])
      expect(() => abi.decodeType(type, bytes)).toThrow(DecodeError)
    },
  )

  it('the ABI decoder bounds the depth of a variant that contains itself', () => {
    const abi = abiOf({ variants: [{ name: 'v', types: ['v', 'uint8'] }] })
    expect(abi.decodeType('v', Uint8Array.of(0, 0, 1, 7))).toEqual(['v', ['v', ['uint8', 7]]])
    expect(() => abi.decodeType('v', new Uint8Array(1000))).toThrow(DecodeError)
  })

  it.each([
    ['empty structs', 'e[]'],
    ['fixed lists of empty structs', 'n[]'],
    ['structs with 500 empty structs', 'w[]'],
  ])('the ABI decoder refuses a list of four billion %s', (_, type) => {
    const abi = abiOf({
      types: [{ new_type_name: 'n', type: 'e[1000]' }],
      structs: [struct('e'), struct('w', ...new Array<string>(500).fill('e'))],
    })
    const bytes = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f)
    expect(() => abi.decodeType(type, bytes)).toThrow('too many values')
    expect(() => abi.decodeType(`${type}[]`, Uint8Array.of(2, ...bytes, ...bytes))).toThrow(DecodeError)
    expect(abi.decodeType('e[]', Uint8Array.of(2))).toEqual([{}, {}])
  })

  it('the ABI decoder bounds the number of elements of all lists together', () => {
    // 100,000 lists, each claiming 2,000 empty structs.
    const abi = abiOf({ structs: [struct('e')] })
    const one = [0xd0, 0x0f]
    const bytes = Buffer.concat([Buffer.from([0xa0, 0x8d, 0x06]), Buffer.alloc(200_000, Buffer.from(one))])
    expect(() => abi.decodeType('e[][]', bytes)).toThrow('too many values')
  })

  it('the ABI decoder refuses an impossible element count before it allocates memory', () => {
    const abi = abiOf({})
    for (const type of ['uint64[]', 'string[]', 'uint8[]', 'bytes', 'asset[]', 'bool?[]', 'public_key[]']) {
      expect(() => abi.decodeType(type, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0))).toThrow(
        DecodeError,
      )
    }
  })

  it('the ABI encoder refuses an object that contains itself', () => {
    const abi = abiOf({ structs: [struct('x', 'x?')] })
    const circle: { f0?: unknown } = {}
    circle.f0 = circle
    expect(() => abi.encoder('x')(circle)).toThrow(EncodeError)
  })
})
