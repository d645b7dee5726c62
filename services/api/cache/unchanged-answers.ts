import type { Session } from '../database/index.ts'
import { currentMoment } from '../database/index.ts'
import type { Json } from '../json/index.ts'
import { AnswerData } from './answer.ts'
import { isLasting } from './flights.ts'
import { RecentlyUsed } from './recently-used.ts'

/** Bytes of answers, and of the questions that were asked, in one process. */
const MAX_BYTES = 48 * 1024 * 1024
const MAX_ASKED_BYTES = 4 * 1024 * 1024
/** Larger ones are as rarely asked as they are slow, and would take the place of many. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** A server that does not tell its moment is asked for it again this much later, ms. */
const SILENT_MS = 1_000

interface Kept {
  readonly since: string
  readonly data: AnswerData
}

/** What was answered, and whether it had been made before. */
export interface MadeOrKept {
  readonly data: AnswerData | Json
  readonly isKept: boolean
}

/**
 * Answers that are given again for as long as the database is what it was before they were made. Every request asks
 * the database for that; so they are never older than one that is made anew. What is asked for the first time is not
 * kept: most of what is asked once is not asked again before the next block.
 */
export class UnchangedAnswers {
  readonly #kept = new RecentlyUsed<Kept>(MAX_BYTES)
  readonly #asked = new RecentlyUsed<true>(MAX_ASKED_BYTES)
  readonly #underway = new Map<string, Promise<AnswerData>>()
  #silentUntilMs = 0
  /** The moment that was seen last. */
  #newest: string | undefined
  /** Raised with `clear`: what was begun before is not kept after. */
  #age = 0

  /** Bytes held, roughly; at most 52 MB. */
  get bytes(): number {
    return this.#kept.bytes + this.#asked.bytes
  }

  clear(): void {
    this.#age++
    this.#kept.clear()
    this.#underway.clear()
  }

  /**
   * The answer to a question.
   * @param key says all that was asked.
   * @param second of the clock, where the answer depends on it.
   * @param make makes it, from statements of that session.
   * @throws whatever `make` throws.
   */
  async answer(
    session: Session,
    key: string,
    second: number,
    make: () => Promise<Json>,
  ): Promise<MadeOrKept> {
    if (!this.#isAskedAgain(key)) return { data: await make(), isKept: false }
    const moment = await this.#moment(session)
    if (moment === undefined) return { data: await make(), isKept: false }
    const since = `${moment} ${second}`
    const kept = this.#kept.get(key)
    if (kept?.since === since) return { data: kept.data, isKept: true }
    // Who has seen this moment as well may have what is made of it: it shows nothing older.
    const underway = this.#underway.get(`${since} ${key}`)
    if (underway) {
      try {
        return { data: await underway, isKept: true }
      } catch (error) {
        if (isLasting(error)) throw error
      }
    }
    return { data: await this.#make(key, moment, since, make), isKept: false }
  }

  #isAskedAgain(key: string): boolean {
    if (this.#asked.get(key)) return true
    this.#asked.set(key, true, 2 * key.length)
    return false
  }

  async #moment(session: Session): Promise<string | undefined> {
    if (performance.now() < this.#silentUntilMs) return undefined
    const moment = await currentMoment(session)
    if (moment === undefined) this.#silentUntilMs = performance.now() + SILENT_MS
    this.#newest = moment
    return moment
  }

  #make(key: string, moment: string, since: string, make: () => Promise<Json>): Promise<AnswerData> {
    const flight = `${since} ${key}`
    const age = this.#age
    const making = make()
      .then((json) => {
        const data = AnswerData.of(json)
        const isCurrent = moment === this.#newest && age === this.#age
        if (isCurrent && data.bytes.length <= MAX_ANSWER_BYTES) {
          this.#kept.set(key, { since, data }, data.bytes.length)
        }
        return data
      })
      .finally(() => {
        if (this.#underway.get(flight) === making) this.#underway.delete(flight)
      })
    this.#underway.set(flight, making)
    return making
  }
}
