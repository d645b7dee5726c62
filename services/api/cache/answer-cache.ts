import type { CacheOutcome } from '../../core/http/index.ts'
import type { AnyAnswer } from './large-answer.ts'
import { Answer } from './answer.ts'
import { AnswerMemory } from './answer-memory.ts'
import type { CachedAnswer } from './answer-memory.ts'
import { Flights, isGone, isLasting } from './flights.ts'
import type { SharedAnswers } from './shared-answers.ts'

export interface AnswerCacheSettings {
  /** Lifetime of a cached answer before `lifeFactor`, ms: `cache_life` of the configuration. */
  readonly lifeMs: number
  /** `cache_max_value_bytes`: answers with a larger body are not cached. */
  readonly maxValueBytes: number
  /** Memory limit of the cache in this process, bytes: `cache_max_memory_bytes` of the configuration. */
  readonly maxBytes: number
}

/** A request, as the cache identifies it. */
export interface CacheRequest {
  readonly key: string
  /** URL of the request as the client sent it; undefined if the request has a body. */
  readonly address: string | undefined
  readonly route: string
  readonly namespace: string
  /** The answer is cached for `lifeFactor` times `lifeMs`. */
  readonly lifeFactor: number
}

interface Found {
  readonly answer: AnyAnswer
  readonly outcome: CacheOutcome
}

/**
 * Time-limited cache of answers.
 *
 * - Answers are stored in the memory of this process, with their compressed forms, and in a store that all processes
 *   share. An answer expires at the same time in both.
 * - Concurrent requests for the same answer wait for one query (request coalescing).
 * - Failures are not cached.
 */
export class AnswerCache {
  readonly #settings: AnswerCacheSettings
  readonly #memory: AnswerMemory
  readonly #shared: SharedAnswers | undefined
  readonly #flights = new Flights<Found>()
  /** Number of calls of `clear`. A query that began before a call of `clear` does not cache its answer. */
  #age = 0

  constructor(settings: AnswerCacheSettings, shared: SharedAnswers | undefined) {
    this.#settings = settings
    this.#memory = new AnswerMemory(settings.maxBytes)
    this.#shared = shared
  }

  /** `cache_max_value_bytes` of the configuration. */
  get maxValueBytes(): number {
    return this.#settings.maxValueBytes
  }

  /** Returns the cached answer of this exact URL; equivalent URLs are found by key. */
  findByAddress(address: string): CachedAnswer | undefined {
    return this.#memory.findByAddress(address)
  }

  /**
   * Answers a request from the cache, from a running query of the same key, or from a new query.
   * @throws any error of `create`.
   */
  async answer(request: CacheRequest, create: () => Promise<AnyAnswer>): Promise<Found> {
    const cached = this.#memory.find(request.key, request.address)
    if (cached) return { answer: cached.answer, outcome: 'hit' }
    let hasFailed = false
    for (let underway = this.#join(request); underway; underway = this.#join(request)) {
      try {
        return await underway
      } catch (error) {
        // The client of the joined query has disconnected, so the query was cancelled. This request's client is still
        // connected: try again.
        if (isGone(error)) continue
        // The joined query has failed for a reason that a new query may not meet, such as a lost connection: try once
        // more.
        if (isLasting(error) || hasFailed) throw error
        hasFailed = true
      }
    }
    return this.#start(request, create)
  }

  /** Drops all cached answers of this process. */
  clear(): void {
    this.#age++
    this.#memory.clear()
    this.#flights.clear()
  }

  /**
   * Joins a running query of the same request. A query that began more than one cache lifetime ago is not joined,
   * because its data is older than any cached answer.
   */
  #join(request: CacheRequest): Promise<Found> | undefined {
    const underway = this.#flights.find(request.key, this.#lifeMs(request))
    return underway?.then(({ answer }) => ({ answer, outcome: 'joined' }))
  }

  #lifeMs({ lifeFactor }: CacheRequest): number {
    return this.#settings.lifeMs * lifeFactor
  }

  #start(request: CacheRequest, create: () => Promise<AnyAnswer>): Promise<Found> {
    return this.#flights.start(request.key, () => this.#create(request, create))
  }

  async #create(request: CacheRequest, create: () => Promise<AnyAnswer>): Promise<Found> {
    const age = this.#age
    const elsewhere = await this.#shared?.read(request.key)
    if (elsewhere) {
      this.#store(request, elsewhere.answer, elsewhere.lifeMs, age)
      return { answer: elsewhere.answer, outcome: 'shared' }
    }
    // The lifetime counts from the start of the query, because a slow query reads old data.
    const startedMs = performance.now()
    const answer = await create()
    const lifeMs = this.#lifeMs(request) - (performance.now() - startedMs)
    if (lifeMs >= 1 && answer instanceof Answer && answer.size <= this.#settings.maxValueBytes) {
      if (this.#store(request, answer, lifeMs, age)) this.#shared?.store(request.key, answer, lifeMs)
    }
    return { answer, outcome: 'miss' }
  }

  #store(request: CacheRequest, answer: Answer, lifeMs: number, age: number): boolean {
    if (age !== this.#age) return false
    const { key, route, namespace } = request
    // Another process, with another clock or setting, may have stored the answer. The lifetime in this process is
    // therefore at most the cache lifetime that this process is configured with.
    const life = Math.min(lifeMs, this.#lifeMs(request))
    this.#memory.store(key, { answer, route, namespace }, life)
    return true
  }
}
