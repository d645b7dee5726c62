import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Parameter, RawValue, Values } from './index.ts'
import { readAttributeFilters, RequestError, validateParameters } from './index.ts'

const noLists = () => Promise.resolve([])

async function read(parameter: Omit<Parameter, 'name' | 'description'>, value: RawValue): Promise<Values> {
  return validateParameters(
    [{ name: 'p', description: '', ...parameter }],
    {},
    new Map([['p', value]]),
    noLists,
  )
}

async function refusal(parameter: Omit<Parameter, 'name' | 'description'>, value: RawValue): Promise<string> {
  const error: unknown = await read(parameter, value).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof RequestError ? `${error.status} ${error.message}` : 'accepted'
}

const INVALID = '400 Invalid value for parameter p'

describe('an int', () => {
  it('is whole digits within its bounds and the exact range of a double', async () => {
    expect((await read({ type: 'int' }, '-12')).int('p')).toBe(-12)
    expect((await read({ type: 'int' }, 9007199254740991)).int('p')).toBe(9007199254740991)
    for (const text of ['1.5', '1a', '+1', ' 1', '1e3', '0x1', '9007199254740992', '-', 'null', '١']) {
      expect(await refusal({ type: 'int' }, text)).toBe(INVALID)
    }
    expect(await refusal({ type: 'int', minimum: 1 }, '0')).toBe(INVALID)
    expect(await refusal({ type: 'int', maximum: 100 }, '101')).toBe(INVALID)
  })
})

describe('an id', () => {
  it('is any 64-bit integer, exactly', async () => {
    expect((await read({ type: 'id' }, '9223372036854775807')).id('p')).toBe(9223372036854775807n)
    expect((await read({ type: 'id' }, '-9223372036854775808')).id('p')).toBe(-9223372036854775808n)
    expect((await read({ type: 'id' }, '0001')).id('p')).toBe(1n)
    for (const text of [
      '9223372036854775808',
      '-9223372036854775809',
      '1.0',
      'null',
      'abc',
      '9'.repeat(100_000),
    ]) {
      expect(await refusal({ type: 'id' }, text)).toBe(INVALID)
    }
  })

  it('may be null where that means something, but only alone', async () => {
    const list = { type: 'id', list: 'named', nullable: true } as const
    const values = await read(list, 'NULL')
    expect([values.isNull('p'), values.ids('p')]).toEqual([true, undefined])
    expect(await refusal(list, 'null,1')).toBe(INVALID)
    expect(await refusal({ type: 'id', list: 'named' }, 'null')).toBe(INVALID)
  })
})

describe('a bool', () => {
  it('is true, 1, false or 0; empty counts as absent', async () => {
    expect((await read({ type: 'bool' }, true)).bool('p')).toBe(true)
    expect((await read({ type: 'bool' }, '1')).bool('p')).toBe(true)
    expect((await read({ type: 'bool' }, 'false')).bool('p')).toBe(false)
    expect((await read({ type: 'bool' }, 0)).bool('p')).toBe(false)
    expect((await read({ type: 'bool' }, 'empty')).has('p')).toBe(false)
    expect(await refusal({ type: 'bool' }, 'TRUE')).toBe(INVALID)
  })
})

describe('a name', () => {
  it('has the alphabet and length of account names', async () => {
    for (const name of ['a', 'atomicassets', '1.2.3', 'aaaaaaaaaaaaj', '.....']) {
      expect((await read({ type: 'name' }, name)).text('p')).toBe(name)
    }
    for (const name of ['A', '6', 'aaaaaaaaaaaak', 'aaaaaaaaaaaaaa', 'a b', '%']) {
      expect(await refusal({ type: 'name' }, name)).toBe(INVALID)
    }
  })
})

describe('a list', () => {
  it('is split at commas, comes from several values as well, and holds nothing twice', async () => {
    const list = { type: 'name', list: 'named' } as const
    expect((await read(list, 'bob,alice,bob')).texts('p')).toEqual(['bob', 'alice'])
    expect((await read(list, ['bob', 'alice,carol'])).texts('p')).toEqual(['bob', 'alice', 'carol'])
    expect((await read({ type: 'id', list: 'named' }, [1, '2'])).ids('p')).toEqual([1n, 2n])
    for (const text of ['a,,b', 'a,', ',a', 'a, b']) expect(await refusal(list, text)).toBe(INVALID)
  })

  it('expands named lists; one that is unknown leaves a list that matches nothing', async () => {
    const parameter: Parameter = { name: 'p', type: 'name', list: 'named', description: '' }
    const lists = (name: string) => Promise.resolve(name === 'good' ? ['alice', 'bob'] : [])
    const expand = async (text: string) =>
      (await validateParameters([parameter], {}, new Map([['p', text]]), lists)).texts('p')
    expect(await expand('$list:good,carol')).toEqual(['alice', 'bob', 'carol'])
    expect(await expand('$list:typo')).toEqual([])
  })

  it('takes of a named list what the parameter can be, and no more than its bound', async () => {
    const mixed = (name: string) =>
      Promise.resolve(
        name === 'long'
          ? Array.from({ length: 50_001 }, (_, each) => String(each))
          : ['Alice', '7', 'bob', '-1'],
      )
    const expand = (type: 'name' | 'id', text: string) =>
      validateParameters(
        [{ name: 'p', type, list: 'named', description: '' }],
        {},
        new Map([['p', text]]),
        mixed,
      )
    expect((await expand('name', '$list:x,$list:x')).texts('p')).toEqual(['bob'])
    expect((await expand('id', '9,$list:x')).ids('p')).toEqual([9n, 7n, -1n])
    await expect(expand('name', 'Alice,$list:x')).rejects.toThrow('Invalid value for parameter p')
    await expect(expand('id', '$list:long')).rejects.toThrow('Invalid value for parameter p')
    const many = Array.from({ length: 51 }, (_, each) => `$list:${each}`).join(',')
    await expect(expand('id', many)).rejects.toThrow('Invalid value for parameter p')
  })

  it('is bounded', async () => {
    const texts = { type: 'string', list: 'comma' } as const
    expect(await refusal(texts, ','.repeat(60_000))).toBe(`${INVALID}: it has more than 10000 items`)
    expect(await refusal(texts, 'x,'.repeat(9_999))).toBe('accepted')
  })
})

describe('a text', () => {
  it('has a greatest length, which the refusal tells', async () => {
    for (const [more, most] of [
      [{}, 128],
      [{ maximum: 256 }, 256],
      [{ list: 'comma', maximum: 100 }, 100],
    ] as const) {
      const text = { type: 'string', ...more } as const
      expect(await refusal(text, 'x'.repeat(most))).toBe('accepted')
      expect(await refusal(text, 'x'.repeat(most + 1))).toBe(
        `${INVALID}: it is longer than ${most} characters`,
      )
    }
    const named = { type: 'name', list: 'named' } as const
    expect(await refusal(named, `$list:${'x'.repeat(200)}`)).toContain('longer than 128')
    for (const type of ['int', 'id', 'decimal', 'bool'] as const)
      expect(await refusal({ type }, '0'.repeat(1_000_000))).toBe(INVALID)
  })
})

describe('any parameter', () => {
  it('counts as absent when empty, takes its default, and cannot hold U+0000', async () => {
    expect((await read({ type: 'int' }, '')).has('p')).toBe(false)
    expect((await read({ type: 'int', default: '7' }, '')).int('p')).toBe(7)
    expect(await refusal({ type: 'string' }, 'a\0b')).toBe(INVALID)
  })

  it('in the path cannot be overridden', async () => {
    const path: Parameter = { name: 'p', in: 'path', type: 'id', description: '' }
    const values = await validateParameters([path], { p: '5' }, new Map([['p', '6']]), noLists)
    expect(values.id('p')).toBe(5n)
  })

  it('falls back to its default for an unknown value where it is lenient', async () => {
    const sort = { type: 'string', values: ['a', 'b'], default: 'a' } as const
    expect((await read({ ...sort, lenient: true }, 'constructor')).text('p')).toBe('a')
    expect(await refusal(sort, 'constructor')).toBe(INVALID)
  })

  it('is accepted or refused with 400, whatever it is', async () => {
    const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.boolean(), fc.bigInt().map(String))
    const types = fc.constantFrom<Parameter['type']>('int', 'id', 'bool', 'name', 'string')
    const lists = fc.constantFrom(undefined, 'comma', 'named')
    await fc.assert(
      fc.asyncProperty(types, lists, fc.oneof(scalar, fc.array(scalar)), async (type, list, value) => {
        expect(['accepted', INVALID, `${INVALID}: it is longer than 128 characters`]).toContain(
          await refusal(list ? { type, list } : { type }, value),
        )
      }),
    )
  })
})

describe('attribute filters', () => {
  const read = (parameters: Record<string, RawValue>) =>
    readAttributeFilters(new Map(Object.entries(parameters)), ['data', 'template_data', 'mutable_data']).map(
      ({ family, containment }) => `${family} ${String(containment)}`,
    )

  it('are typed', () => {
    expect(read({ 'data.a': '4' })).toEqual(['data {"a":"4"}'])
    expect(read({ 'data.a': 4 })).toEqual(['data {"a":4}'])
    expect(read({ 'data:text.a': 4 })).toEqual(['data {"a":"4"}'])
    expect(read({ 'data:number.a': '4.50abc' })).toEqual(['data {"a":4.5}'])
    expect(read({ 'data:number.a': 'abc' })).toEqual(['data undefined'])
    expect(read({ 'data:bool.a': 'true' })).toEqual(['data {"a":1}'])
    expect(read({ 'data:bool.a': 'yes' })).toEqual(['data {"a":0}'])
    expect(read({ 'data.tags': ['x', 'y'] })).toEqual(['data {"tags":["x","y"]}'])
  })

  it('take everything after the first dot as the name of the attribute', () => {
    expect(read({ 'mutable_data.a.b:c': 'x' })).toEqual(['mutable_data {"a.b:c":"x"}'])
    expect(read({ 'data.__proto__': 'x' })).toEqual(['data {"__proto__":"x"}'])
    expect(read({ 'data.': '' })).toEqual(['data {"":""}'])
  })

  it('prefer template_data to data for the same attribute', () => {
    expect(read({ 'data.a': '1', 'template_data:number.a': '2' })).toEqual(['template_data {"a":2}'])
  })

  it('of other families or without a dot are ignored', () => {
    expect(read({ 'immutable_data.a': '1', data: 'x', 'database.a': 'x', 'data:float.a': '1' })).toEqual([])
  })

  it('are refused when there are more than are looked at', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`data.a${at}`, 'x']))
    expect(read(many(100))).toHaveLength(100)
    expect(() => read(many(101))).toThrow(expect.objectContaining({ status: 400 }) as Error)
    expect(() => read(many(101))).toThrow('More than 100 attribute filters')
  })

  it('match nothing where PostgreSQL could not hold the value', () => {
    expect(read({ 'data.a': 'x\0' })).toEqual(['data undefined'])
    expect(read({ 'data.a': '\ud800' })).toEqual(['data undefined'])
    expect(read({ 'data.a': '\\u0000' })).toEqual([String.raw`data {"a":"\\u0000"}`])
  })
})
