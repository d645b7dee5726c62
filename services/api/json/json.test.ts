import { describe, expect, it } from 'vitest'
import {
  findName,
  nameOf,
  splitDataMap,
  jsonArray,
  jsonBytes,
  jsonItemSizes,
  jsonSize,
  jsonString,
  LateJson,
} from './json.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')

describe('JSON in pieces', () => {
  it('JSON in pieces concatenates texts and bytes in order, at any depth', () => {
    const json = ['{"a":', bytes('"ä"'), [',"b":', ['[', bytes('1'), ',', '2', ']']], bytes(''), '', '}']
    expect(jsonBytes(json).toString('utf8')).toBe('{"a":"ä","b":[1,2]}')
    expect(jsonString(json)).toBe('{"a":"ä","b":[1,2]}')
    expect(jsonString('"text"')).toBe('"text"')
    expect(jsonBytes([]).length).toBe(0)
  })

  it('JSON in pieces does not split surrogate pairs', () => {
    expect(jsonString(['"', '😀', bytes('文'), '"'])).toBe('"😀文"')
  })

  it('JSON in pieces writes arrays of any values', () => {
    expect(jsonString(jsonArray([]))).toBe('[]')
    expect(jsonString(jsonArray(['1', bytes('2'), ['"', '3', '"']]))).toBe('[1,2,"3"]')
  })

  it('JSON in pieces leaves given bytes unchanged', () => {
    const part = bytes('part')
    jsonBytes(['a', part]).fill(0)
    jsonBytes(part).fill(0)
    expect(Buffer.from(part).toString()).toBe('part')
  })

  it('the size of JSON in pieces is known before writing, because a piece that is generated later counts with its maximum size', () => {
    let written = 0
    const late = new LateJson(10, () => ['"lä', bytes(`te${++written}"`)])
    const list = jsonArray(['1', late, bytes('22')])
    expect(jsonSize(list)).toBe(1 + 1 + 1 + 10 + 1 + 2 + 1)
    expect(jsonItemSizes(list)).toEqual([1, 10, 2])
    expect(written).toBe(0)
    expect(jsonString(list)).toBe('[1,"läte1",22]')
  })

  it('jsonItemSizes returns item sizes for an array in pieces, and undefined for any other JSON', () => {
    expect(jsonItemSizes(jsonArray([]))).toEqual([])
    expect(jsonItemSizes('[]')).toBeUndefined()
    expect(jsonItemSizes(['{', '}'])).toBeUndefined()
  })
})

it('findName returns the attribute `name` of an attribute map, whatever the length of the other attributes', () => {
  const map = '{"a": "x", "name": "A \\"b\\"", "text": {"name": 1}}'
  expect(findName(map)).toBe('"A \\"b\\""')
  expect(findName(map)).toBe(nameOf(splitDataMap(map)))
  expect(findName('{"a": 1, "a key that is longer than any spelling": "name"}')).toBeUndefined()
  expect(findName('')).toBeUndefined()
})

it('findName returns the attribute `name` as text, also if its value is no string', () => {
  expect(findName('{"name": 4}')).toBe('"4"')
  expect(findName('{"name": ["a", 1]}')).toBe(String.raw`"[\"a\", 1]"`)
  expect(findName('{"name": null}')).toBe('null')
})
