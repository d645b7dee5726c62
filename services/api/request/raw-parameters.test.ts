import { expect, it } from 'vitest'
import { choice, flag, id, ids, idsOrNull, inPath, int, names, text } from '../../core/parameters/index.ts'
import type { RawValue } from './raw-parameters.ts'
import { readRequest } from './raw-parameters.ts'

const noLists = () => Promise.resolve([])
const raw = (given: Record<string, RawValue>) => new Map(Object.entries(given))

it('several values are one list', async () => {
  const parameters = { a: names(''), b: ids('') }
  const values = await readRequest(parameters, {}, raw({ a: ['bob', 'alice,carol'], b: [1, '2'] }), noLists)
  expect(values).toEqual({ a: ['bob', 'alice', 'carol'], b: [1n, 2n] })
})

it('the same value several times is one, where a parameter takes no list', async () => {
  const parameters = { a: int(''), b: choice('', ['asc', 'desc']), c: flag(''), d: text(''), e: names('') }
  const given = { a: ['1', 1], b: ['asc', 'asc'], c: [true, 'true'], d: ['x', 'x'], e: ['bob', 'bob'] }
  const values = await readRequest(parameters, {}, raw(given), noLists)
  expect(values).toEqual({ a: 1, b: 'asc', c: true, d: 'x', e: ['bob'] })
  await expect(readRequest(parameters, {}, raw({ a: ['1', '2'] }), noLists)).rejects.toMatchObject({
    message: 'Invalid value for parameter a',
  })
})

it('an empty one of several values is absent, as one alone is, and null several times is null', async () => {
  const parameters = { a: names(''), b: int(''), c: idsOrNull(''), d: names('') }
  const given = { a: ['', 'bob', ''], b: ['5', ''], c: ['null', 'null'], d: ['', ''] }
  const values = await readRequest(parameters, {}, raw(given), noLists)
  expect(values).toEqual({ a: ['bob'], b: 5, c: null })
})

it('what is in the path cannot be overridden', async () => {
  const values = await readRequest({ p: inPath(id('')) }, { p: '5' }, raw({ p: '6' }), noLists)
  expect(values.p).toBe(5n)
})

it('the first invalid one is reported', async () => {
  const reading = readRequest({ a: int(''), b: int('') }, {}, raw({ b: 'x', a: 'x' }), noLists)
  await expect(reading).rejects.toMatchObject({ status: 400, message: 'Invalid value for parameter a' })
})
