import { describe, expect, it } from 'vitest'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { RequestError } from '../../core/http/index.ts'
import { Answer } from './answer.ts'
import type { AnyAnswer } from './large-answer.ts'
import { AnswerCache } from './answer-cache.ts'
import { answerKey } from './answer-key.ts'
import type { CacheRequest } from './answer-cache.ts'
import type { SharedAnswers } from './shared-answers.ts'

const settings = { lifeMs: 60_000, maxValueBytes: 1_000, maxBytes: 10_000 }

function requestOf(key: string, more: Partial<CacheRequest> = {}): CacheRequest {
  return { key, address: `/${key}`, route: '/route', namespace: 'assets', lifeFactor: 1, ...more }
}

function answerOf(text: string): Answer {
  return Answer.of(text, ['', ''])
}

function textOf({ answer }: { readonly answer: AnyAnswer }): string {
  return (answer as Answer).bytes.toString()
}

/** A source of answers that resolves when the test releases it. */
function createSource(): {
  create: () => Promise<Answer>
  settle: (at: number, result: Answer | Error) => Promise<void>
  runs: () => number
} {
  const waiting: ((result: Answer | Error) => void)[] = []
  return {
    create: () =>
      new Promise((resolve, reject) => {
        waiting.push((result) => {
          if (result instanceof Error) reject(result)
          else resolve(result)
        })
      }),
    settle: async (at, result) => {
      await flush()
      waiting[at]!(result)
    },
    runs: () => waiting.length,
  }
}

/** Runs all pending callbacks. */
const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('identical requests', () => {
  it('identical requests wait for one answer', async () => {
    const cache = new AnswerCache(settings, undefined)
    const { create, settle, runs } = createSource()
    const answers = [1, 2, 3].map(() => cache.answer(requestOf('a'), create))
    await flush()
    expect(runs()).toBe(1)
    await settle(0, answerOf('one'))
    const found = await Promise.all(answers)
    expect(found.map(({ outcome }) => outcome)).toEqual(['miss', 'joined', 'joined'])
    expect(new Set(found.map(({ answer }) => answer)).size).toBe(1)
    expect((await cache.answer(requestOf('a'), create)).outcome).toBe('hit')
    expect(cache.findByAddress('/a')?.route).toBe('/route')
    expect(cache.findByAddress('/b')).toBeUndefined()
  })

  it('identical requests share a request error and a query time-out', async () => {
    for (const failure of [
      new RequestError(416, 'Asset not found'),
      new RetryableError('QUERY_TIMEOUT', 'too slow'),
    ]) {
      const cache = new AnswerCache(settings, undefined)
      const { create, settle, runs } = createSource()
      const answers = [1, 2].map(() => cache.answer(requestOf('a'), create))
      const refused = Promise.all(answers.map((each) => expect(each).rejects.toBe(failure)))
      await settle(0, failure)
      await refused
      expect(runs()).toBe(1)
      // The failure is not cached: the next request starts another query.
      void cache.answer(requestOf('a'), create)
      await flush()
      expect(runs()).toBe(2)
    }
  })

  it('if the query of a request fails, exactly one of the identical requests that wait runs the query again', async () => {
    for (const failure of [
      new RetryableError('DATABASE_UNAVAILABLE', 'cut'),
      new RetryableError('DATABASE_BUSY', 'too many of that client'),
      new FatalError('DATABASE_ERROR', 'refused'),
      new Error('unexpected'),
    ]) {
      const cache = new AnswerCache(settings, undefined)
      const { create, settle, runs } = createSource()
      const answers = [1, 2, 3].map(() => cache.answer(requestOf('a'), create))
      const refused = expect(answers[0]).rejects.toBe(failure)
      await settle(0, failure)
      await refused
      await flush()
      expect(runs()).toBe(2)
      await settle(1, answerOf('two'))
      expect((await Promise.all(answers.slice(1))).map(({ outcome }) => outcome)).toEqual(['miss', 'joined'])
    }
  })

  it('each time a client disconnects while its request runs the query, a waiting identical request runs the query again', async () => {
    const cache = new AnswerCache(settings, undefined)
    const { create, settle, runs } = createSource()
    const answers = [1, 2, 3, 4].map(() => cache.answer(requestOf('a'), create))
    const gone = new RetryableError('CLIENT_GONE', 'left')
    for (const at of [0, 1, 2]) {
      const left = expect(answers[at]).rejects.toBe(gone)
      await settle(at, gone)
      await left
      await flush()
      expect(runs()).toBe(at + 2)
    }
    await settle(3, answerOf('four'))
    expect(textOf(await answers[3]!)).toBe('four')
  })

  it('identical requests do not join a query that began before the cache was cleared', async () => {
    const cache = new AnswerCache(settings, undefined)
    const { create, settle, runs } = createSource()
    const before = cache.answer(requestOf('a'), create)
    cache.clear()
    const after = cache.answer(requestOf('a'), create)
    await flush()
    expect(runs()).toBe(2)
    await settle(0, answerOf('old'))
    await before
    await settle(1, answerOf('new'))
    await after
    expect(textOf(await cache.answer(requestOf('a'), create))).toBe('new')
  })

  it('a request that arrives after the cache was cleared gets no answer of a query that began before the clearing', async () => {
    const cache = new AnswerCache(settings, undefined)
    const { create, settle } = createSource()
    const before = cache.answer(requestOf('a'), create)
    await flush()
    cache.clear()
    await settle(0, answerOf('old'))
    await before
    const after = cache.answer(requestOf('a'), create)
    await settle(1, answerOf('new'))
    expect(textOf(await after)).toBe('new')
  })
})

describe('the key of an answer', () => {
  const keyOf = (ids: readonly string[]): string => answerKey('assets /v1/assets', { ids }, [], [])
  const manyIds = Array.from({ length: 100 }, (_, at) => String(1_099_511_627_776 + at))

  it('long requests that differ only at their end have different keys', () => {
    const others = [...manyIds.slice(0, -1), '7']
    expect(keyOf(manyIds)).toBe(keyOf([...manyIds]))
    expect(keyOf(manyIds)).not.toBe(keyOf(others))
    expect(keyOf(manyIds).length).toBeLessThan(200)
  })
})

describe('cached answers', () => {
  it('cached answers are evicted, the least recently used first', async () => {
    const cache = new AnswerCache(settings, undefined)
    const ask = async (key: string): Promise<string> =>
      (await cache.answer(requestOf(key), () => Promise.resolve(answerOf(key)))).outcome
    for (let each = 0; each < 100; each++) {
      await ask(`q${each}`)
      expect(await ask('q0')).toBe('hit')
    }
    expect(await ask('q50')).toBe('miss')
  })

  it('cached answers expire after the lifetime of their endpoint', async () => {
    const cache = new AnswerCache({ ...settings, lifeMs: 1 }, undefined)
    const create = (): Promise<Answer> => Promise.resolve(answerOf('x'))
    await cache.answer(requestOf('short'), create)
    await cache.answer(requestOf('long', { lifeFactor: 60_000 }), create)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await cache.answer(requestOf('short'), create)).outcome).toBe('miss')
    expect((await cache.answer(requestOf('long', { lifeFactor: 60_000 }), create)).outcome).toBe('hit')
  })

  it('a process uses a cached answer of another process for the rest of the lifetime of the answer', async () => {
    const stored = new Map<string, { answer: Answer; lifeMs: number }>()
    const shared: SharedAnswers = {
      read: (key) => Promise.resolve(stored.get(key)),
      store: (key, answer, lifeMs) => void stored.set(key, { answer, lifeMs }),
    }
    const create = (): Promise<Answer> => Promise.resolve(answerOf('made here'))
    stored.set('a', { answer: answerOf('made elsewhere'), lifeMs: 20 })
    const cache = new AnswerCache(settings, shared)
    const found = await cache.answer(requestOf('a'), create)
    expect([found.outcome, textOf(found)]).toEqual(['shared', 'made elsewhere'])
    expect((await cache.answer(requestOf('b'), create)).outcome).toBe('miss')
    expect(stored.get('b')!.lifeMs).toBeLessThanOrEqual(settings.lifeMs)
    expect(stored.get('b')!.lifeMs).toBeGreaterThan(settings.lifeMs - 10_000)
    stored.clear()
    await new Promise((resolve) => setTimeout(resolve, 25))
    expect((await cache.answer(requestOf('a'), create)).outcome).toBe('miss')
  })

  it('a cached answer of another process expires after the lifetime that this process sets, even if the other process set a longer lifetime', async () => {
    const shared: SharedAnswers = {
      read: () => Promise.resolve(elsewhere),
      store: () => undefined,
    }
    let elsewhere: { answer: Answer; lifeMs: number } | undefined = { answer: answerOf('x'), lifeMs: 60_000 }
    const create = (): Promise<Answer> => Promise.resolve(answerOf('made here'))
    const cache = new AnswerCache({ ...settings, lifeMs: 5 }, shared)
    expect((await cache.answer(requestOf('a'), create)).outcome).toBe('shared')
    elsewhere = undefined
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect((await cache.answer(requestOf('a'), create)).outcome).toBe('miss')
  })
})
