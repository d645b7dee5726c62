import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RequestError } from '../../core/http/index.ts'
import { parseJsonBody } from './json-body.ts'
import { parseQueryString } from '../request/parameters.ts'

const query = (text: string) => Object.fromEntries(parseQueryString(text) ?? [])
const body = (text: string) => Object.fromEntries(parseJsonBody(text))

describe('the parser of query strings', () => {
  it('the parser of query strings decodes escapes and plus signs', () => {
    expect(query('a=1&b=x%20y+z&c&d=&data%3Anumber.p=1')).toEqual({
      a: '1',
      b: 'x y z',
      c: '',
      d: '',
      'data:number.p': '1',
    })
  })

  it('the parser of query strings returns lists for repeated and bracketed parameters', () => {
    expect(query('a=1&a=2&b[]=3&c[0]=4&c[1]=5&d%5B%5D=6')).toEqual({
      a: ['1', '2'],
      b: ['3'],
      c: ['4', '5'],
      d: ['6'],
    })
  })

  it('the parser of query strings returns an invalid escape unchanged', () => {
    expect(query('a=%zz&b=%e2%82')).toEqual({ a: '%zz', b: '%e2%82' })
  })

  it('the parser of query strings accepts names like __proto__ and refuses too many pairs', () => {
    expect(parseQueryString('__proto__=x')?.get('__proto__')).toBe('x')
    expect(parseQueryString('a&'.repeat(20_000))).toBeUndefined()
  })

  it('the parser of query strings throws no error, whatever the content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        parseQueryString(text)
      }),
    )
  })
})

describe('the parser of JSON bodies', () => {
  it('the parser of JSON bodies accepts numbers, booleans and lists, and ignores null', () => {
    expect(body('{"a":1,"b":true,"c":["x",2,null],"d":null,"g":"h","i":[]}')).toEqual({
      a: 1,
      b: true,
      c: ['x', 2],
      g: 'h',
    })
  })

  it('the parser of JSON bodies warns of each null and of each empty list that it ignores', () => {
    const warnings: string[] = []
    parseJsonBody('{"a":null,"b":[],"c":["x",null],"d":true}', (sentence) => void warnings.push(sentence))
    expect(warnings).toEqual([
      'a is null; it is ignored',
      'b is an empty list; it is ignored',
      'null in the list c is ignored',
    ])
  })

  it.each([
    '{"owner":{"eq":"alice"},"limit":1}',
    '{"ids":["1",{"id":2}]}',
    '{"ids":[[3]]}',
    '{"data":{"a":"x"}}',
  ])('a JSON body with an object for a parameter is refused: %s', (text) => {
    expect(() => body(text)).toThrow(expect.objectContaining({ status: 400 }) as Error)
    expect(() => body(text)).toThrow('the body has an object for this parameter')
  })

  it('the parser of JSON bodies preserves empty lists of attribute filters', () => {
    expect(body('{"data.a":[],"mutable_data:number.b":[null],"template_id":[],"data":[]}')).toEqual({
      'data.a': [],
      'mutable_data:number.b': [],
    })
  })

  it('the parser of JSON bodies preserves brackets in attribute names, and removes brackets from other parameter names', () => {
    expect(body('{"data.a[]":"x","template_data:text.b[]":["y"],"owner[]":["z"]}')).toEqual({
      'data.a[]': 'x',
      'template_data:text.b[]': ['y'],
      owner: ['z'],
    })
  })

  it('the parser of JSON bodies preserves all digits of long integers, and leaves strings unchanged', () => {
    expect(body('{"id":9223372036854775807,"ids":[1099511627776000001,-9007199254740993]}')).toEqual({
      id: '9223372036854775807',
      ids: ['1099511627776000001', '-9007199254740993'],
    })
    expect(body(String.raw`{"a":"x \" 12345678901234567890","b":1.2345678901234567}`)).toEqual({
      a: 'x " 12345678901234567890',
      b: 1.2345678901234567,
    })
  })

  it('a JSON body may be empty or an empty array, and then has no parameters', () => {
    expect(body('[]')).toEqual({})
    expect(body(' ')).toEqual({})
  })

  it('a JSON body must be an object', () => {
    for (const text of [
      '{',
      '[{"owner":"alice"}]',
      '"text"',
      '5',
      'null',
      'true',
      '{"a":01234567890123456789}',
    ]) {
      expect(() => body(text)).toThrow(RequestError)
    }
  })

  it('the parser of JSON bodies reads any object of texts, booleans and integers as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.boolean(), fc.integer())), (object) => {
        const expected = new Map(
          Object.entries(object).map(([key, value]) => [key.replace(/\[\]$/, ''), value]),
        )
        expect(parseJsonBody(JSON.stringify(object))).toEqual(expected)
      }),
    )
  })
})
