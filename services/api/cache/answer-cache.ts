import type { CacheOutcome } from '../../core/http/index.ts'
import type { Answer } from './answer.ts'
import { AnswerMemory } from './answer-memory.ts'
import type { KeptAnswer } from './answer-memory.ts'
import { Flights, isGone, isLasting } from './flights.ts'
import type { SharedAnswers } from './shared-answers.ts'

/** Settings of the cache. */
export interface AnswerCacheSettings {
  /** `cache_life`, ms. */
  readonly lifeMs: number
  /** `cache_max_value_bytes`: answers with a larger body are not kept. */
  readonly maxValueBytes: number
  /** `cache_max_memory_bytes`: bound of what this process keeps. */
  readonly maxBytes: number
}

/** A question to the cache. */
export interface Question {
  readonly key: string
  /** Address that the request spelled it by; undefined when it has a body. */
  readonly address: string | undefined
  readonly route: string
  readonly namespace: string
  /** How many times longer than others its answer is kept. */
  readonly lifeFactor: number
}

interface Found {
  readonly answer: Answer
  readonly outcome: CacheOutcome
}

/**
 * Answers that are given again for a while. They are kept in this process, with their compressed forms, and in the
 * shared store, where the other processes find them; an answer's life starts once, wherever it is kept. Requests that
 * ask the same at the same time wait for one answer. Failures are not kept.
 */
export class AnswerCache {
  readonly #settings: AnswerCacheSettings
  readonly #memory: AnswerMemory
  readonly #shared: SharedAnswers | undefined
  readonly #flights = new Flights<Found>()
  /** Raised with `clear`: what was begun before is not kept after. */
  #age = 0

  constructor(settings: AnswerCacheSettings, shared: SharedAnswers | undefined) {
    this.#settings = settings
    this.#memory = new AnswerMemory(settings.maxBytes)
    this.#shared = shared
  }

  /** The kept answer for an address exactly as it was spelled. */
  findByAddress(address: string): KeptAnswer | undefined {
    return this.#memory.findByAddress(address)
  }

  /**
   * The answer to a question: a kept one, one that is being made, or a new one.
   * @throws whatever `make` throws.
   */
  async answer(question: Question, make: () => Promise<Answer>): Promise<Found> {
    const kept = this.#memory.find(question.key, question.address)
    if (kept) return { answer: kept.answer, outcome: 'hit' }
    let hasFailed = false
    for (let underway = this.#join(question); underway; underway = this.#join(question)) {
      try {
        return await underway
      } catch (error) {
        // That the other client has left says nothing of this one, however many do.
        if (isGone(error)) continue
        // What befell the other request, such as a cut connection, need not befall this one.
        if (isLasting(error) || hasFailed) throw error
        hasFailed = true
      }
    }
    return this.#start(question, make)
  }

  /** Forgets what this process keeps. */
  clear(): void {
    this.#age++
    this.#memory.clear()
    this.#flights.clear()
  }

  /** Nobody is given data older than a kept answer could be: work that began too long ago is left alone. */
  #join(question: Question): Promise<Found> | undefined {
    const underway = this.#flights.find(question.key, this.#lifeMs(question))
    return underway?.then(({ answer }) => ({ answer, outcome: 'joined' }))
  }

  #lifeMs({ lifeFactor }: Question): number {
    return this.#settings.lifeMs * lifeFactor
  }

  #start(question: Question, make: () => Promise<Answer>): Promise<Found> {
    return this.#flights.start(question.key, () => this.#make(question, make))
  }

  async #make(question: Question, make: () => Promise<Answer>): Promise<Found> {
    const age = this.#age
    const elsewhere = await this.#shared?.read(question.key)
    if (elsewhere) {
      this.#keep(question, elsewhere.answer, elsewhere.lifeMs, age)
      return { answer: elsewhere.answer, outcome: 'shared' }
    }
    // The life of an answer counts from the moment its data were read, not from the end of a slow query.
    const startedMs = performance.now()
    const answer = await make()
    const lifeMs = this.#lifeMs(question) - (performance.now() - startedMs)
    if (lifeMs >= 1 && answer.length <= this.#settings.maxValueBytes) {
      if (this.#keep(question, answer, lifeMs, age)) this.#shared?.keep(question.key, answer, lifeMs)
    }
    return { answer, outcome: 'miss' }
  }

  #keep(question: Question, answer: Answer, lifeMs: number, age: number): boolean {
    if (age !== this.#age) return false
    const { key, route, namespace } = question
    // A life beyond that of this process' own answers would come from a clock or setting that differs.
    const life = Math.min(lifeMs, this.#lifeMs(question))
    this.#memory.keep(key, { answer, route, namespace }, life)
    return true
  }
}
