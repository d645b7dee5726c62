import { LRUCache } from 'lru-cache'
import { RetryableError } from '../../core/errors/index.ts'
import type { RequestDatabase, Session } from '../database/index.ts'
import { currentMoment } from '../database/index.ts'
import type { Json } from '../json/index.ts'
import { AnswerData } from './answer.ts'
import { isLasting } from './flights.ts'
import { SharedLook } from './shared-look.ts'

const MEBIBYTE = 1024 * 1024
/** Bytes of answers, of the questions that were asked, and of the addresses that asked them, in one process. */
const MAX_BYTES = 48 * MEBIBYTE
const MAX_ASKED_BYTES = 4 * MEBIBYTE
const MAX_ADDRESS_BYTES = 4 * MEBIBYTE
/** What an entry takes beside its key and its answer. */
const ENTRY_BYTES = 200
/** Larger ones are as rarely asked as they are slow, and would take the place of many. */
const MAX_ANSWER_BYTES = 4 * MEBIBYTE
/** A longer address is not remembered. */
const MAX_ADDRESS_LENGTH = 2_048
/** A server that does not tell its moment is asked for it again this much later, ms. */
const SILENT_MS = 1_000
/** One that takes longer to tell it is slow, or gone: whoever waits goes the way of all requests. */
const LOOK_MS = 1_000

/** A question that may be asked again. */
export interface KnownQuestion {
  /** Says all that is asked. */
  readonly key: string
  /** Milliseconds since 1970, where the second has a say in the answer. */
  readonly clock: (() => number) | undefined
  /** Pattern and namespace of its route, for those who count. */
  readonly route: string
  readonly namespace: string
}

/** An answer, and the question that it was found by. */
export interface FoundAgain extends KnownQuestion {
  readonly data: AnswerData
}

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
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ data }) => data.bytes.length + ENTRY_BYTES,
  })
  readonly #asked = new LRUCache<string, true>({ maxSize: MAX_ASKED_BYTES, sizeCalculation: sizeOfKey })
  readonly #addresses = new LRUCache<string, KnownQuestion>({
    maxSize: MAX_ADDRESS_BYTES,
    sizeCalculation: sizeOfKey,
  })
  readonly #underway = new Map<string, Promise<AnswerData>>()
  readonly #look: SharedLook<string | undefined>
  readonly #isCaching: boolean
  #silentUntilMs = 0
  #slowUntilMs = 0
  /** The moment that was seen last. */
  #newest: string | undefined
  /** Raised with `clear`: what was begun before is not kept after. */
  #age = 0

  /** @param isCaching false keeps nothing, for measurements. */
  constructor(database: Pick<RequestDatabase, 'run'>, isCaching = true) {
    this.#isCaching = isCaching
    this.#look = new SharedLook(() =>
      within(LOOK_MS, database.run(currentMoment, { caller: 'moment', isBrief: true })),
    )
  }

  /** Bytes held, roughly; at most 56 MB. */
  get bytes(): number {
    return this.#kept.calculatedSize + this.#asked.calculatedSize + this.#addresses.calculatedSize
  }

  clear(): void {
    this.#age++
    this.#kept.clear()
    this.#addresses.clear()
    this.#underway.clear()
  }

  /**
   * The answer to a question.
   * @param session reads the moment, and is what `make` reads from.
   * @throws whatever `make` throws.
   */
  async answer(
    session: Session,
    { key, clock }: Pick<KnownQuestion, 'key' | 'clock'>,
    make: () => Promise<Json>,
  ): Promise<MadeOrKept> {
    if (!this.#isCaching || !this.#isAskedAgain(key) || this.#isSilent)
      return { data: await make(), isKept: false }
    const seen = this.#newest
    // An answer that is made now is at least as new as any moment seen before: it may be kept for that one. It will not
    // be found if something has been committed since.
    if (seen !== undefined && !this.#mayHave(key, sinceOf(seen, clock))) {
      return { data: await this.#make(key, seen, sinceOf(seen, clock), make), isKept: false }
    }
    const moment = this.#note(await currentMoment(session))
    if (moment === undefined) return { data: await make(), isKept: false }
    const since = sinceOf(moment, clock)
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

  /** Whether an answer for a moment is kept, or being made. */
  #mayHave(key: string, since: string): boolean {
    return this.#kept.get(key)?.since === since || this.#underway.has(`${since} ${key}`)
  }

  /** Remembers the address that asked a question, where it says everything that was asked. */
  remember(address: string, question: KnownQuestion): void {
    if (!this.#isCaching || address.length > MAX_ADDRESS_LENGTH || this.#addresses.get(address) !== undefined)
      return
    this.#addresses.set(address, question)
  }

  /**
   * The answer to what an address asked, as it was spelled; undefined at once when none is kept, and later when
   * something has changed, or the database did not tell.
   */
  findByAddress(address: string): Promise<FoundAgain | undefined> | undefined {
    const question = this.#addresses.get(address)
    if (!question || this.#isSilent || performance.now() < this.#slowUntilMs) return undefined
    if (!this.#kept.get(question.key)) return undefined
    return this.#findUnchanged(question)
  }

  async #findUnchanged(question: KnownQuestion): Promise<FoundAgain | undefined> {
    let moment: string | undefined
    try {
      moment = this.#note(await this.#look.see())
    } catch {
      this.#slowUntilMs = performance.now() + SILENT_MS
    }
    const kept = this.#kept.get(question.key)
    if (moment === undefined || kept?.since !== sinceOf(moment, question.clock)) return undefined
    return { ...question, data: kept.data }
  }

  get #isSilent(): boolean {
    return performance.now() < this.#silentUntilMs
  }

  #isAskedAgain(key: string): boolean {
    if (this.#asked.get(key)) return true
    this.#asked.set(key, true)
    return false
  }

  #note(moment: string | undefined): string | undefined {
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
          this.#kept.set(key, { since, data })
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

function sizeOfKey(_value: unknown, key: string): number {
  return 2 * key.length + ENTRY_BYTES
}

function sinceOf(moment: string, clock: (() => number) | undefined): string {
  return clock ? `${moment} ${Math.floor(clock() / 1_000)}` : moment
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RetryableError('DATABASE_BUSY', `nothing was heard for ${ms} ms`))
    }, ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
