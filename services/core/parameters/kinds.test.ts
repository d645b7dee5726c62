import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Complaint, NamedLists, Parameter } from '../endpoint/index.ts'
import { choice, choices, decimal, flag, id, ids, idsOrNull, int, name, names, text, texts } from './kinds.ts'
import { pick, readParameters, valuesText, without } from '../endpoint/index.ts'

const noLists: NamedLists = () => Promise.resolve(undefined)

/** Parses `given` as the value of a parameter; returns the parsed value, or the reason why the value is refused. */
async function read(parameter: Parameter, given: unknown, lists = noLists): Promise<unknown> {
  const refused: string[] = []
  const refuse = (_: string, { reason }: Complaint) => refused.push(reason ?? 'refused')
  const values = await readParameters({ p: parameter }, { lists, find: () => given, refuse })
  return refused[0] ?? values['p']
}

describe('an int parameter', () => {
  it('an int parameter accepts only digits, and only values within its bounds and the exact range of a double', async () => {
    expect(await read(int(''), '-12')).toBe(-12)
    expect(await read(int(''), 9007199254740991)).toBe(9007199254740991)
    expect(await read(int(''), '-0')).toBe(0)
    for (const given of ['1.5', '1a', '+1', ' 1', '1e3', '0x1', '9007199254740992', '-', 'null', '١'])
      expect(await read(int(''), given)).toBe('refused')
    expect(await read(int('', { minimum: 1 }), '0')).toBe('refused')
    expect(await read(int('', { maximum: 100 }), '101')).toBe('refused')
  })
})

describe('an id parameter', () => {
  it('an id parameter accepts any 64-bit integer without rounding', async () => {
    expect(await read(id(''), '9223372036854775807')).toBe(9223372036854775807n)
    expect(await read(id(''), '-9223372036854775808')).toBe(-9223372036854775808n)
    expect(await read(id(''), '0001')).toBe(1n)
    const tooLarge = ['9223372036854775808', '-9223372036854775809', '9'.repeat(100_000)]
    for (const given of [...tooLarge, '1.0', 'null', 'abc']) expect(await read(id(''), given)).toBe('refused')
  })

  it('an id parameter that allows null refuses a list of null and other values', async () => {
    expect(await read(idsOrNull(''), 'NULL')).toBeNull()
    expect(await read(idsOrNull(''), '1,2')).toEqual([1n, 2n])
    expect(await read(idsOrNull(''), 'null,1')).toBe('refused')
    expect(await read(ids(''), 'null')).toBe('refused')
  })
})

describe('a flag parameter', () => {
  it('a flag parameter is true, 1, false or 0; an empty flag counts as absent', async () => {
    expect(await read(flag(''), true)).toBe(true)
    expect(await read(flag(''), '1')).toBe(true)
    expect(await read(flag(''), 'false')).toBe(false)
    expect(await read(flag(''), 0)).toBe(false)
    expect(await read(flag('', true), 'empty')).toBeUndefined()
    expect(await read(flag('', false), '')).toBe(false)
    expect(await read(flag(''), 'TRUE')).toBe('refused')
  })
})

describe('a name parameter', () => {
  it('a name parameter accepts only texts with the alphabet and the length of account names', async () => {
    for (const given of ['a', 'atomicassets', '1.2.3', 'aaaaaaaaaaaaj', '.....'])
      expect(await read(name(''), given)).toBe(given)
    for (const given of ['A', '6', 'aaaaaaaaaaaak', 'aaaaaaaaaaaaaa', 'a b', '%'])
      expect(await read(name(''), given)).toBe('refused')
  })
})

describe('a decimal parameter', () => {
  it('the value of a decimal parameter stays text', async () => {
    for (const given of ['12', '1e3', '0.50']) expect(await read(decimal('', 0), given)).toBe(given)
    for (const given of ['-1', '.5', '1.', 'x', '1e5.5', '0e0.5'])
      expect(await read(decimal('', 0), given)).toBe('refused')
  })

  it('a decimal parameter accepts numbers of any size in a JSON body', async () => {
    const texts: readonly (readonly [number, string])[] = [
      [0.5, '0.5'],
      [0.0000005, '0.0000005'],
      [0.00000012, '0.00000012'],
      [1e21, '1e21'],
      [1.5e21, '15e20'],
      [Number.MAX_VALUE, '17976931348623157e292'],
      [Number.MIN_VALUE, `0.${'0'.repeat(40)}`],
    ]
    for (const [given, text] of texts) expect(await read(decimal('', 0), given)).toBe(text)
    for (const given of [-0.0000005, Infinity]) expect(await read(decimal('', 0), given)).toBe('refused')
  })
})

describe('a list parameter', () => {
  it('a list parameter is split at commas, without duplicates', async () => {
    expect(await read(names(''), 'bob,alice,bob')).toEqual(['bob', 'alice'])
    expect(await read(ids(''), '1,01')).toEqual([1n])
    expect(await read(choices('', ['a', 'b']), 'b,a')).toEqual(['b', 'a'])
    expect(await read(choices('', ['a', 'b']), 'b,c')).toBe('refused')
    for (const given of ['a,,b', 'a,', ',a', 'a, b']) expect(await read(names(''), given)).toBe('refused')
    expect(await read(texts(''), 'a,,b')).toBe('refused')
  })

  it('a list parameter expands named lists; an unknown named list expands to no items', async () => {
    const lists: NamedLists = (list) => Promise.resolve(list === 'good' ? ['alice', 'bob'] : undefined)
    expect(await read(names(''), '$list:good,carol', lists)).toEqual(['alice', 'bob', 'carol'])
    expect(await read(names(''), '$list:typo', lists)).toEqual([])
    expect(await read(names('', 'comma'), '$list:good', lists)).toBe('refused')
  })

  it('a list parameter ignores invalid items of a named list, and refuses more than 50,000 items or more than 50 named lists', async () => {
    const long = Array.from({ length: 50_001 }, (_, each) => String(each))
    const lists: NamedLists = (list) => Promise.resolve(list === 'long' ? long : ['Alice', '7', 'bob', '-1'])
    expect(await read(names(''), '$list:x,$list:x', lists)).toEqual(['bob'])
    expect(await read(ids(''), '9,$list:x', lists)).toEqual([9n, 7n, -1n])
    expect(await read(names(''), 'Alice,$list:x', lists)).toBe('refused')
    expect(await read(ids(''), '$list:long', lists)).toBe('its named lists contain more than 50000 items')
    const many = Array.from({ length: 51 }, (_, each) => `$list:${each}`).join(',')
    expect(await read(ids(''), many, lists)).toBe('refused')
  })

  it('a list parameter of more than 10,000 items is refused', async () => {
    expect(await read(texts('', 'comma', {}), ','.repeat(60_000))).toBe('the list has more than 10000 items')
    expect(await read(texts('', 'comma', {}), 'x,'.repeat(9_999))).toEqual(['x', ''])
  })
})

describe('a text parameter', () => {
  it('a text parameter above the maximum length is refused, and the refusal names the maximum', async () => {
    const kinds = [
      [text(''), 128],
      [text('', { maximum: 256 }), 256],
      [texts('', 'comma', { maximum: 100 }), 100],
    ] as const
    for (const [kind, most] of kinds) {
      expect(await read(kind, 'x'.repeat(most))).toBeDefined()
      expect(await read(kind, 'x'.repeat(most + 1))).toBe(`the text is longer than ${most} characters`)
    }
    expect(await read(names(''), `$list:${'x'.repeat(200)}`)).toBe('the text is longer than 128 characters')
    for (const kind of [int(''), id(''), decimal('', 0), flag(''), name('')])
      expect(await read(kind, '0'.repeat(1_000_000))).toBe('refused')
  })
})

describe('every kind of parameter', () => {
  it('an empty parameter counts as absent and takes its default; a text with U+0000 is refused', async () => {
    expect(await read(int(''), '')).toBeUndefined()
    expect(await read(int('', { default: 7 }), '')).toBe(7)
    expect(await read(text(''), 'a\0b')).toBe('refused')
    expect(await read(text(''), 'a\ud800b')).toBe('a\ufffdb')
  })

  it('a required parameter that is absent is refused', async () => {
    expect(await read(text('', { required: true }), '')).toBe('refused')
    expect(await read(choice('', ['a'], { required: true }), undefined)).toBe('refused')
  })

  it('a lenient parameter uses its default for an unknown value', async () => {
    const words = ['a', 'b'] as const
    for (const given of ['constructor', 'x'.repeat(1_000), 'a\0'])
      expect(await read(choice('', words, { default: 'a', lenient: true }), given)).toBe('a')
    expect(await read(choice('', words, { default: 'a' }), 'constructor')).toBe('refused')
  })

  it('every kind of parameter reads or refuses a random value, and throws nothing', async () => {
    const kinds = [
      int(''),
      id(''),
      flag(''),
      name(''),
      text(''),
      decimal('', 0),
      ids(''),
      names(''),
      texts(''),
    ]
    const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.boolean(), fc.bigInt().map(String))
    const given = fc.oneof(scalar, fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(fc.constantFrom<Parameter>(...kinds), given, async (kind, value) => {
        await expect(read(kind, value)).resolves.not.toThrow()
      }),
    )
  })
})

describe('parameter values', () => {
  const parameters = { a: id(''), b: names(''), c: int('', { default: 1 }) }
  const readAll = (given: Readonly<Record<string, string>>) =>
    readParameters(parameters, {
      find: (each) => given[each],
      refuse(each) {
        throw new Error(each)
      },
    })

  it('valuesText returns the same text for the same parameter values, whatever the order of the parameters in the request', async () => {
    const text = valuesText(await readAll({ a: '01', b: 'bob' }))
    expect(valuesText(await readAll({ b: 'bob', c: '1', a: '1', d: 'x' }))).toBe(text)
    expect(valuesText(await readAll({ a: '1' }))).not.toBe(text)
  })

  it('parameter values have no member for an absent parameter; `without` and `pick` copy a part of the parameter values', async () => {
    const values = await readAll({ a: '1', b: '' })
    expect(Object.entries(values)).toEqual([
      ['a', 1n],
      ['c', 1],
    ])
    expect(without(values, ['a', 'b'])).toEqual({ c: 1 })
    expect(pick(values, ['a', 'b'])).toEqual({ a: 1n })
  })

  it('reading parameters can report every invalid value instead of only the first', async () => {
    const wrong: string[] = []
    await readParameters(parameters, { find: () => '!', refuse: (each) => wrong.push(each) })
    expect(wrong).toEqual(['a', 'b', 'c'])
  })
})
