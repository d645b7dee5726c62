import { describe, expect, it } from 'vitest'
import { jsonArray, jsonBytes, jsonString } from './json.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')

describe('JSON in pieces', () => {
  it('JSON in pieces is their texts and bytes in their order, however deep', () => {
    const json = ['{"a":', bytes('"ä"'), [',"b":', ['[', bytes('1'), ',', '2', ']']], bytes(''), '', '}']
    expect(jsonBytes(json).toString('utf8')).toBe('{"a":"ä","b":[1,2]}')
    expect(jsonString(json)).toBe('{"a":"ä","b":[1,2]}')
    expect(jsonString('"text"')).toBe('"text"')
    expect(jsonBytes([]).length).toBe(0)
  })

  it('JSON in pieces does not split characters of two units of UTF-16', () => {
    expect(jsonString(['"', '😀', bytes('文'), '"'])).toBe('"😀文"')
  })

  it('JSON in pieces writes arrays of any values', () => {
    expect(jsonString(jsonArray([]))).toBe('[]')
    expect(jsonString(jsonArray(['1', bytes('2'), ['"', '3', '"']]))).toBe('[1,2,"3"]')
  })

  it('JSON in pieces leaves the bytes that it is given as they are', () => {
    const part = bytes('part')
    jsonBytes(['a', part]).fill(0)
    jsonBytes(part).fill(0)
    expect(Buffer.from(part).toString()).toBe('part')
  })
})
