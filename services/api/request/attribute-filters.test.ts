import { describe, expect, it } from 'vitest'
import type { RawValue } from './parameters.ts'
import { readAttributeFilters } from './parameters.ts'

describe('attribute filters', () => {
  const read = (parameters: Record<string, RawValue>) =>
    readAttributeFilters(new Map(Object.entries(parameters)), ['data', 'template_data', 'mutable_data']).map(
      ({ family, containments }) => [family, ...containments].join(' '),
    )

  it('an attribute filter with a type compares values of this type; a filter without a type compares every type that the text can have', () => {
    expect(read({ 'data.a': 'x' })).toEqual(['data {"a":"x"}'])
    expect(read({ 'data.a': 4 })).toEqual(['data {"a":4} {"a":"4"}'])
    expect(read({ 'data:text.a': 4 })).toEqual(['data {"a":"4"}'])
    expect(read({ 'data:number.a': ' 4.50' })).toEqual(['data {"a":4.5}'])
    expect(read({ 'data:bool.a': 'true' })).toEqual(['data {"a":1}'])
    expect(read({ 'data:bool.a': 0 })).toEqual(['data {"a":0}'])
  })

  it.each([
    ['data:number.a', 'abc'],
    ['data:number.a', ''],
    ['data:number.a', '1e999'],
    ['data:number.a', true],
    ['data:number.a', ['1', 'x']],
    ['data:bool.a', 'yes'],
    ['data:bool.a', 2],
  ] as const)('a typed attribute filter refuses a value of another type: %s=%j', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(expect.objectContaining({ status: 400 }) as Error)
    expect(() => read({ [name]: value })).toThrow(`Invalid value for parameter ${name}: it must be`)
  })

  it('an attribute filter with several values matches a list that contains all values, or an attribute that equals the last value', () => {
    expect(read({ 'data.tags': ['x', 'y'] })).toEqual(['data {"tags":["x","y"]} {"tags":"y"}'])
    expect(read({ 'data.tags': ['x', '4'] })).toEqual(['data {"tags":["x","4"]} {"tags":"4"} {"tags":4}'])
    expect(read({ 'data:number.tags': ['3', '4'] })).toEqual(['data {"tags":[3,4]} {"tags":4}'])
    expect(read({ 'data.tags': ['x', 'x'] })).toEqual(['data {"tags":["x","x"]} {"tags":"x"}'])
    expect(read({ 'data.tags': [] })).toEqual(['data {"tags":[]}'])
  })

  it('an attribute filter with several different values causes a warning', () => {
    const warnings: string[] = []
    const raw = new Map<string, RawValue>([
      ['data.a', ['x', 'y']],
      ['data.b', ['x', 'x']],
      ['data.c', 'x'],
    ])
    readAttributeFilters(raw, ['data'], (sentence) => void warnings.push(sentence))
    expect(warnings).toEqual([
      'data.a was given several times; the last value counts, unless the attribute is a list',
    ])
  })

  it('a text that begins with a number causes a warning in a typed filter', () => {
    const warnings: string[] = []
    const filters = readAttributeFilters(
      new Map([['data:number.a', '1e5.5']]),
      ['data'],
      (sentence) => void warnings.push(sentence),
    )
    expect(filters).toEqual([{ family: 'data', containments: ['{"a":100000}'] }])
    expect(warnings).toEqual([
      'the value of data:number.a is not a number; the beginning of the value is read as 100000',
    ])
  })

  it('attribute filters match a text and the number or bool that the text spells', () => {
    const untyped = (value: RawValue) => read({ 'data.a': value })
    expect(untyped('4')).toEqual(['data {"a":"4"} {"a":4}'])
    expect(untyped('-1.50')).toEqual(['data {"a":"-1.50"} {"a":-1.5}'])
    expect(untyped('true')).toEqual(['data {"a":"true"} {"a":1}'])
    expect(untyped(false)).toEqual(['data {"a":0} {"a":"false"}'])
    expect(untyped('18446744073709551615')).toEqual(['data {"a":"18446744073709551615"}'])
    expect(untyped('1.7976931348623157e+308')).toEqual([
      'data {"a":"1.7976931348623157e+308"} {"a":1.7976931348623157e+308}',
    ])
    expect(untyped('1e999')).toEqual(['data {"a":"1e999"}'])
    expect(untyped('4 ')).toEqual(['data {"a":"4 "}'])
    expect(read({ 'data:text.a': '4', 'data:number.a': '5' })).toEqual(['data {"a":"4"}', 'data {"a":5}'])
  })

  it('attribute filters take everything after the first dot as the name of the attribute', () => {
    expect(read({ 'mutable_data.a.b:c': 'x' })).toEqual(['mutable_data {"a.b:c":"x"}'])
    expect(read({ 'data.__proto__': 'x' })).toEqual(['data {"__proto__":"x"}'])
    expect(read({ 'data.': '' })).toEqual(['data {"":""}'])
  })

  it('attribute filters prefer template_data to data for the same attribute', () => {
    expect(read({ 'data.a': '1', 'template_data:number.a': '2' })).toEqual(['template_data {"a":2}'])
  })

  it('a parameter name with an unknown prefix, an unknown type or no dot is no attribute filter', () => {
    expect(read({ 'immutable_data.a': '1', data: 'x', 'database.a': 'x', 'data:float.a': '1' })).toEqual([])
  })

  it('more attribute filters than the maximum number are refused', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`data.a${at}`, 'x']))
    expect(read(many(100))).toHaveLength(100)
    expect(() => read(many(101))).toThrow(expect.objectContaining({ status: 400 }) as Error)
    expect(() => read(many(101))).toThrow('More than 100 attribute filters')
  })

  it('attribute filters match nothing if PostgreSQL cannot hold the value', () => {
    expect(read({ 'data.a': 'x\0' })).toEqual(['data'])
    expect(read({ 'data.a': '\ud800' })).toEqual(['data'])
    expect(read({ 'data.a': '\\u0000' })).toEqual([String.raw`data {"a":"\\u0000"}`])
  })
})
