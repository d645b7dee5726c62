import { describe, expect, it } from 'vitest'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { RequestError } from '../../core/http/index.ts'
import { Answer, AnswerCache } from './index.ts'
import type { Question, SharedAnswers } from './index.ts'

const settings = { lifeMs: 60_000, maxValueBytes: 1_000, maxBytes: 10_000 }

function questionOf(key: string, more: Partial<Question> = {}): Question {
  return { key, address: `/${key}`, route: '/route', namespace: 'assets', lifeFactor: 1, ...more }
}

function answerOf(text: string): Answer {
  return Answer.of(text, ['', ''])
}

/** A source whose answers come when the test says so. */
function createSource(): {
  make: () => Promise<Answer>
  settle: (at: number, result: Answer | Error) => Promise<void>
  runs: () => number
} {
  const waiting: ((result: Answer | Error) => void)[] = []
  return {
    make: () =>
      new Promise((resolve, reject) => {
        waiting.push((result) => {
          if (result instanceof Error) reject(result)
          else resolve(result)
        })
      }),
    settle: async (at, result) => {
      await turn()
      waiting[at]!(result)
    },
    runs: () => waiting.length,
  }
}

/** Lets everything that waits for nothing go on. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('requests that ask the same', () => {
  it('wait for one answer', async () => {
    const cache = new AnswerCache(settings, undefined)
    const { make, settle, runs } = createSource()
    const asked = [1, 2, 3].map(() => cache.answer(questionOf('a'), make))
    await turn()
    expect(runs()).toBe(1)
    await settle(0, answerOf('one'))
    const found = await Promise.all(asked)
    expect(found.map(({ outcome }) => outcome)).toEqual(['miss', 'joined', 'joined'])
    expect(new Set(found.map(({ answer }) => answer)).size).toBe(1)
    expect((await cache.answer(questionOf('a'), make)).outcome).toBe('hit')
    expect(cache.findByAddress('/a')?.route).toBe('/route')
    expect(cache.findByAddress('/b')).toBeUndefined()
  })

  it('share a failure that lies in the question', async () => {
    for (const failure of [
      new RequestError(416, 'Asset not found'),
      new RetryableError('QUERY_TIMEOUT', 'too slow'),
    ]) {
      const cache = new AnswerCache(settings, undefined)
      const { make, settle, runs } = createSource()
      const asked = [1, 2].map(() => cache.answer(questionOf('a'), make))
      const refused = Promise.all(asked.map((each) => expect(each).rejects.toBe(failure)))
      await settle(0, failure)
      await refused
      expect(runs()).toBe(1)
      // Nothing of it is kept.
      void cache.answer(questionOf('a'), make)
      await turn()
      expect(runs()).toBe(2)
    }
  })

  it('do not share one that befell the first of them: one of the others asks again, once', async () => {
    for (const failure of [
      new RetryableError('DATABASE_UNAVAILABLE', 'cut'),
      new RetryableError('DATABASE_BUSY', 'too many of that client'),
      new FatalError('DATABASE_ERROR', 'refused'),
      new Error('unexpected'),
    ]) {
      const cache = new AnswerCache(settings, undefined)
      const { make, settle, runs } = createSource()
      const asked = [1, 2, 3].map(() => cache.answer(questionOf('a'), make))
      const refused = expect(asked[0]).rejects.toBe(failure)
      await settle(0, failure)
      await refused
      await turn()
      expect(runs()).toBe(2)
      await settle(1, answerOf('two'))
      expect((await Promise.all(asked.slice(1))).map(({ outcome }) => outcome)).toEqual(['miss', 'joined'])
    }
  })

  it('are answered however many others leave while they wait', async () => {
    const cache = new AnswerCache(settings, undefined)
    const { make, settle, runs } = createSource()
    const asked = [1, 2, 3, 4].map(() => cache.answer(questionOf('a'), make))
    const gone = new RetryableError('CLIENT_GONE', 'left')
    for (const at of [0, 1, 2]) {
      const left = expect(asked[at]).rejects.toBe(gone)
      await settle(at, gone)
      await left
      await turn()
      expect(runs()).toBe(at + 2)
    }
    await settle(3, answerOf('four'))
    expect((await asked[3]!).answer.bytes.toString()).toBe('four')
  })

  it('are not answered with what was begun before everything was forgotten', async () => {
    const cache = new AnswerCache(settings, undefined)
    const { make, settle, runs } = createSource()
    const before = cache.answer(questionOf('a'), make)
    cache.clear()
    const after = cache.answer(questionOf('a'), make)
    await turn()
    expect(runs()).toBe(2)
    await settle(0, answerOf('old'))
    await before
    await settle(1, answerOf('new'))
    await after
    const { answer } = await cache.answer(questionOf('a'), make)
    expect(answer.bytes.toString()).toBe('new')
  })
})

describe('kept answers', () => {
  it('are forgotten when too much else is used', async () => {
    const cache = new AnswerCache(settings, undefined)
    const ask = async (key: string): Promise<string> =>
      (await cache.answer(questionOf(key), () => Promise.resolve(answerOf(key)))).outcome
    for (let each = 0; each < 100; each++) {
      await ask(`q${each}`)
      expect(await ask('q0')).toBe('hit')
    }
    expect(await ask('q50')).toBe('miss')
  })

  it('live longer where an endpoint says so, and never longer than that', async () => {
    const cache = new AnswerCache({ ...settings, lifeMs: 1 }, undefined)
    const make = (): Promise<Answer> => Promise.resolve(answerOf('x'))
    await cache.answer(questionOf('short'), make)
    await cache.answer(questionOf('long', { lifeFactor: 60_000 }), make)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await cache.answer(questionOf('short'), make)).outcome).toBe('miss')
    expect((await cache.answer(questionOf('long', { lifeFactor: 60_000 }), make)).outcome).toBe('hit')
  })

  it('of other processes are used for what is left of their life', async () => {
    const stored = new Map<string, { answer: Answer; lifeMs: number }>()
    const shared: SharedAnswers = {
      read: (key) => Promise.resolve(stored.get(key)),
      keep: (key, answer, lifeMs) => void stored.set(key, { answer, lifeMs }),
    }
    const make = (): Promise<Answer> => Promise.resolve(answerOf('made here'))
    stored.set('a', { answer: answerOf('made elsewhere'), lifeMs: 20 })
    const cache = new AnswerCache(settings, shared)
    const found = await cache.answer(questionOf('a'), make)
    expect([found.outcome, found.answer.bytes.toString()]).toEqual(['shared', 'made elsewhere'])
    expect((await cache.answer(questionOf('b'), make)).outcome).toBe('miss')
    expect(stored.get('b')!.lifeMs).toBeLessThanOrEqual(settings.lifeMs)
    expect(stored.get('b')!.lifeMs).toBeGreaterThan(settings.lifeMs - 10_000)
    stored.clear()
    await new Promise((resolve) => setTimeout(resolve, 25))
    expect((await cache.answer(questionOf('a'), make)).outcome).toBe('miss')
  })
})
