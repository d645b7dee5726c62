import { describe, expect, it } from 'vitest'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { Session } from '../database/index.ts'
import type { Json } from '../json/index.ts'
import { jsonString } from '../json/index.ts'
import { AnswerData } from './answer.ts'
import { UnchangedAnswers } from './unchanged-answers.ts'

const RUN = '2026-01-01 00:00:00+00'

/** A database at a snapshot; null on a standby. */
class Database implements Session {
  snapshot: string | null = '10:10:'
  reads = 0

  run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return work(this)
  }

  query<Row extends readonly unknown[]>(): Promise<Row[]> {
    this.reads++
    return Promise.resolve([[this.snapshot === null ? null : `${RUN} ${this.snapshot}`]] as unknown as Row[])
  }
}

function createAnswers() {
  const database = new Database()
  const answers = new UnchangedAnswers(database)
  let made = 0
  const ask = async (
    key: string,
    { second = 0, create = () => Promise.resolve<Json>(`"${key}${++made}"`) } = {},
  ): Promise<string> => {
    const { data } = await answers.answer(database, { key, clock: () => second * 1_000 }, create)
    return data instanceof AnswerData ? data.bytes.toString() : jsonString(data)
  }
  const find = async (address: string): Promise<string | undefined> =>
    (await answers.findByAddress(address))?.data.bytes.toString()
  return { database, answers, ask, find }
}

describe('answers of an unchanged database', () => {
  it('answers of an unchanged database are cached for repeated requests, until the next commit', async () => {
    const { database, ask } = createAnswers()
    expect(await ask('a')).toBe('"a1"')
    expect(database.reads).toBe(0)
    expect([await ask('a'), await ask('a'), await ask('b')]).toEqual(['"a2"', '"a2"', '"b3"'])
    expect(database.reads).toBe(2)
    // A transaction has begun: nothing of it can be seen.
    database.snapshot = '10:11:10'
    expect(await ask('a')).toBe('"a2"')
    database.snapshot = '11:11:'
    expect([await ask('a'), await ask('a')]).toEqual(['"a4"', '"a4"'])
  })

  it('answers of an unchanged database are recomputed in the next second of the clock', async () => {
    const { ask } = createAnswers()
    await ask('a')
    expect([await ask('a', { second: 1 }), await ask('a', { second: 1 })]).toEqual(['"a2"', '"a2"'])
    expect(await ask('a', { second: 2 })).toBe('"a3"')
  })

  it('answers of an unchanged database are not cached from a standby, which is then seldom asked for its snapshot', async () => {
    const { database, ask } = createAnswers()
    database.snapshot = null
    expect([await ask('a'), await ask('a'), await ask('a')]).toEqual(['"a1"', '"a2"', '"a3"'])
    expect(database.reads).toBe(1)
  })

  it('answers of an unchanged database are dropped with the database, running queries included', async () => {
    const { answers, ask } = createAnswers()
    await ask('a')
    await ask('a', {
      create: () => {
        answers.clear()
        return Promise.resolve('"of before"')
      },
    })
    expect(await ask('a')).toBe('"a2"')
    expect(answers.bytes).toBeGreaterThan(0)
  })

  it('answers of an unchanged database have a maximum size', async () => {
    const { ask } = createAnswers()
    const huge = (): Promise<Json> => Promise.resolve(`"${'x'.repeat(5 * 1024 * 1024)}"`)
    await ask('a')
    await ask('a', { create: huge })
    expect(await ask('a')).toBe('"a2"')
  })

  it('answers of an unchanged database are found by an identical URL, as long as nothing has changed', async () => {
    const { database, answers, ask, find } = createAnswers()
    const request = { key: 'a', clock: () => 0, route: '/route', namespace: 'assets' }
    answers.remember('/a?x', request)
    answers.remember(`/a?${'x'.repeat(3_000)}`, request)
    await ask('a')
    expect(answers.findByAddress('/a?x')).toBeUndefined()
    await ask('a')
    expect([await find('/a?x'), await answers.findByAddress('/a?x')]).toMatchObject([
      '"a2"',
      { route: '/route' },
    ])
    expect(answers.findByAddress('/a')).toBeUndefined()
    expect(answers.findByAddress(`/a?${'x'.repeat(3_000)}`)).toBeUndefined()
    database.snapshot = '11:11:'
    expect(await find('/a?x')).toBeUndefined()
    await ask('a')
    expect(await find('/a?x')).toBe('"a3"')
  })

  it('answers of an unchanged database of concurrent requests share one read of the snapshot, which begins after they came', async () => {
    const { database, answers, ask, find } = createAnswers()
    answers.remember('/a', { key: 'a', clock: () => 0, route: '', namespace: '' })
    await ask('a')
    await ask('a')
    const before = database.reads
    expect(await Promise.all([1, 2, 3, 4, 5].map(() => find('/a')))).toEqual(Array(5).fill('"a2"'))
    expect(database.reads - before).toBe(2)
    const early = find('/a')
    database.snapshot = '11:11:'
    expect([await early, await find('/a')]).toEqual(['"a2"', undefined])
  })

  it('answers of an unchanged database are not looked up by URL for a while when the snapshot cannot be read', async () => {
    const { database, answers, ask, find } = createAnswers()
    answers.remember('/a', { key: 'a', clock: () => 0, route: '', namespace: '' })
    await ask('a')
    await ask('a')
    database.run = () => Promise.reject(new RetryableError('DATABASE_BUSY', 'busy'))
    expect(await find('/a')).toBeUndefined()
    expect(answers.findByAddress('/a')).toBeUndefined()
    expect(await ask('a')).toBe('"a2"')
  })

  it('answers of an unchanged database are computed once for requests with the same snapshot', async () => {
    const { database, ask } = createAnswers()
    await ask('a')
    let answered: ((json: Json) => void) | undefined
    let runs = 0
    const create = (): Promise<Json> => {
      runs++
      return new Promise((resolve) => (answered = resolve))
    }
    const first = [ask('a', { create }), ask('a', { create })]
    await new Promise(setImmediate)
    database.snapshot = '11:11:'
    // A request with a later snapshot does not join a query of an earlier one.
    expect(await ask('a')).toBe('"a2"')
    answered!('"slow"')
    expect([await Promise.all(first), runs]).toEqual([['"slow"', '"slow"'], 1])
    expect(await ask('a')).toBe('"a2"')
  })

  it('answers of an unchanged database do not share a failure of another request, except a request error', async () => {
    const { ask } = createAnswers()
    const failures = [
      new RetryableError('DATABASE_UNAVAILABLE', 'cut'),
      new FatalError('QUERY_TIMEOUT', 'long'),
    ]
    for (const [at, failure] of failures.entries()) {
      const key = `k${at}`
      await ask(key)
      let fail: (() => void) | undefined
      const create = (): Promise<Json> =>
        new Promise((_, reject) => {
          fail = () => {
            reject(failure)
          }
        })
      const [first, second] = [ask(key, { create }), ask(key)]
      const ends = Promise.allSettled([first, second])
      await new Promise(setImmediate)
      fail!()
      expect((await ends).map(({ status }) => status)).toEqual([
        'rejected',
        at === 0 ? 'fulfilled' : 'rejected',
      ])
    }
  })
})
