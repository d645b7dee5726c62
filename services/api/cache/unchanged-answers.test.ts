import { describe, expect, it } from 'vitest'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { Session } from '../database/index.ts'
import type { Json } from '../json/index.ts'
import { jsonString } from '../json/index.ts'
import { AnswerData } from './answer.ts'
import { UnchangedAnswers } from './unchanged-answers.ts'

const RUN = '2026-01-01 00:00:00+00'

/** A database that has come to a snapshot; null on a standby. */
class Database implements Session {
  snapshot: string | null = '10:10:'
  asked = 0

  query<Row extends readonly unknown[]>(): Promise<Row[]> {
    this.asked++
    return Promise.resolve([[this.snapshot === null ? null : `${RUN} ${this.snapshot}`]] as unknown as Row[])
  }
}

function createAnswers() {
  const database = new Database()
  const answers = new UnchangedAnswers()
  let made = 0
  const ask = async (
    key: string,
    { second = 0, make = () => Promise.resolve<Json>(`"${key}${++made}"`) } = {},
  ): Promise<string> => {
    const { data } = await answers.answer(database, key, second, make)
    return data instanceof AnswerData ? data.bytes.toString() : jsonString(data)
  }
  return { database, answers, ask }
}

describe('answers of an unchanged database', () => {
  it('are kept of what is asked again, until something has been committed', async () => {
    const { database, ask } = createAnswers()
    expect(await ask('a')).toBe('"a1"')
    expect(database.asked).toBe(0)
    expect([await ask('a'), await ask('a'), await ask('b')]).toEqual(['"a2"', '"a2"', '"b3"'])
    expect(database.asked).toBe(2)
    // A transaction has begun: nothing of it can be seen.
    database.snapshot = '10:11:10'
    expect(await ask('a')).toBe('"a2"')
    database.snapshot = '11:11:'
    expect([await ask('a'), await ask('a')]).toEqual(['"a4"', '"a4"'])
  })

  it('are made again in another second of the clock', async () => {
    const { ask } = createAnswers()
    await ask('a')
    expect([await ask('a', { second: 1 }), await ask('a', { second: 1 })]).toEqual(['"a2"', '"a2"'])
    expect(await ask('a', { second: 2 })).toBe('"a3"')
  })

  it('are not kept where the database does not tell its moment, which is seldom asked for then', async () => {
    const { database, ask } = createAnswers()
    database.snapshot = null
    expect([await ask('a'), await ask('a'), await ask('a')]).toEqual(['"a1"', '"a2"', '"a3"'])
    expect(database.asked).toBe(1)
  })

  it('are forgotten with the database, those under way too', async () => {
    const { answers, ask } = createAnswers()
    await ask('a')
    await ask('a', {
      make: () => {
        answers.clear()
        return Promise.resolve('"of before"')
      },
    })
    expect(await ask('a')).toBe('"a2"')
    expect(answers.bytes).toBeGreaterThan(0)
  })

  it('are as large as lists are, and no larger', async () => {
    const { ask } = createAnswers()
    const huge = (): Promise<Json> => Promise.resolve(`"${'x'.repeat(5 * 1024 * 1024)}"`)
    await ask('a')
    await ask('a', { make: huge })
    expect(await ask('a')).toBe('"a2"')
  })

  it('are made once for all who have seen the same moment', async () => {
    const { database, ask } = createAnswers()
    await ask('a')
    let answered: ((json: Json) => void) | undefined
    let runs = 0
    const make = (): Promise<Json> => {
      runs++
      return new Promise((resolve) => (answered = resolve))
    }
    const first = [ask('a', { make }), ask('a', { make })]
    await new Promise(setImmediate)
    database.snapshot = '11:11:'
    // Who has seen a later one does not take what was begun before it.
    expect(await ask('a')).toBe('"a2"')
    answered!('"slow"')
    expect([await Promise.all(first), runs]).toEqual([['"slow"', '"slow"'], 1])
    expect(await ask('a')).toBe('"a2"')
  })

  it('fail alone where another request failed, unless they would as well', async () => {
    const { ask } = createAnswers()
    const failures = [
      new RetryableError('DATABASE_UNAVAILABLE', 'cut'),
      new FatalError('QUERY_TIMEOUT', 'long'),
    ]
    for (const [at, failure] of failures.entries()) {
      const key = `k${at}`
      await ask(key)
      let fail: (() => void) | undefined
      const make = (): Promise<Json> =>
        new Promise((_, reject) => {
          fail = () => {
            reject(failure)
          }
        })
      const [first, second] = [ask(key, { make }), ask(key)]
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
