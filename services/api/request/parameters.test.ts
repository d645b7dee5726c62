import { expect, it } from 'vitest'
import { choice, flag, id, ids, idsOrNull, inPath, int, names, text } from '../../core/parameters/index.ts'
import type { Parameters } from '../../core/endpoint/index.ts'
import type { RawValue } from './parameters.ts'
import { readRequest } from './parameters.ts'

function read<P extends Parameters>(
  parameters: P,
  given: Record<string, RawValue>,
  path: Record<string, string> = {},
) {
  const raw = new Map(Object.entries(given))
  return readRequest(parameters, { path, raw, lists: () => Promise.resolve([]) })
}

it('several values of a parameter that accepts a list form one list', async () => {
  const parameters = { a: names(''), b: ids('') }
  const values = await read(parameters, { a: ['bob', 'alice,carol'], b: [1, '2'] })
  expect(values).toEqual({ a: ['bob', 'alice', 'carol'], b: [1n, 2n] })
})

it('a parameter that is given several times with the same value has this value once', async () => {
  const parameters = { a: int(''), b: choice('', ['asc', 'desc']), c: flag(''), d: text(''), e: names('') }
  const given = { a: ['1', 1], b: ['asc', 'asc'], c: [true, 'true'], d: ['x', 'x'], e: ['bob', 'bob'] }
  const values = await read(parameters, given)
  expect(values).toEqual({ a: 1, b: 'asc', c: true, d: 'x', e: ['bob'] })
})

it('a parameter that accepts only one value uses the last of several different values, with a warning', async () => {
  const parameters = { a: int(''), b: names(''), c: int(''), d: text('') }
  const raw = new Map(
    Object.entries({ a: ['1', '2', ''], b: ['bob', 'alice'], c: [3, '3'], d: ['y', 'x', 'y'] }),
  )
  const warnings: string[] = []
  const warn = (sentence: string): void => void warnings.push(sentence)
  const values = await readRequest(parameters, { raw, lists: () => Promise.resolve([]), warn })
  expect(values).toEqual({ a: 2, b: ['bob', 'alice'], c: 3, d: 'y' })
  expect(warnings).toEqual(['a', 'd'].map((name) => `${name} was given several times; the last value counts`))
})

it('empty values of a parameter count as absent; a parameter that is given several times with the value null is null', async () => {
  const parameters = { a: names(''), b: int(''), c: idsOrNull(''), d: names('') }
  const given = { a: ['', 'bob', ''], b: ['5', ''], c: ['null', 'null'], d: ['', ''] }
  const values = await read(parameters, given)
  expect(values).toEqual({ a: ['bob'], b: 5, c: null })
})

it('a parameter of the query or body cannot override a value in the path', async () => {
  const values = await read({ p: inPath(id('')) }, { p: '6' }, { p: '5' })
  expect(values.p).toBe(5n)
})

it('the first invalid parameter is reported', async () => {
  const reading = read({ a: int(''), b: int('') }, { b: 'x', a: 'x' })
  await expect(reading).rejects.toMatchObject({ status: 400, message: 'Invalid value for parameter a' })
})
