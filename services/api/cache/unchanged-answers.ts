import { LRUCache } from 'lru-cache'
import { RetryableError } from '../../core/errors/index.ts'
import type { RequestDatabase, Session } from '../database/index.ts'
import { currentSnapshot } from '../database/index.ts'
import type { Json } from '../json/index.ts'
import { AnswerData } from './answer.ts'
import { isLasting } from './flights.ts'
import { SharedRead } from './shared-read.ts'

const MEBIBYTE = 1024 * 1024
/** Bytes of answers, of keys that were requested, and of their URLs, per process. */
const MAX_BYTES = 48 * MEBIBYTE
const MAX_SEEN_BYTES = 4 * MEBIBYTE
const MAX_ADDRESS_BYTES = 4 * MEBIBYTE
/** Overhead of an entry, without its key and answer. */
const ENTRY_BYTES = 200
/** Larger answers are rarely requested, and would evict many others. */
const MAX_ANSWER_BYTES = 4 * MEBIBYTE
/** A longer address is not remembered. */
const MAX_ADDRESS_LENGTH = 2_048
/** A server without a snapshot (a standby) is asked again after this time, ms. */
const SILENT_MS = 1_000
/** After this time the server counts as slow or unavailable: waiting requests take the normal path. */
const SNAPSHOT_TIMEOUT_MS = 1_000

/** A request that may be repeated. */
export interface RepeatedRequest {
  /** Identifies the answer completely. */
  readonly key: string
  /** Milliseconds since 1970, where the answer depends on the second. */
  readonly clock: (() => number) | undefined
  /** Pattern and namespace of its route, for metrics. */
  readonly route: string
  readonly namespace: string
}

/** A cached answer with its request. */
export interface RepeatedAnswer extends RepeatedRequest {
  readonly data: AnswerData
}

interface Stored {
  readonly since: string
  readonly data: AnswerData
}

/** The data of an answer, and whether it came from the cache. */
export interface AnswerResult {
  readonly data: AnswerData | Json
  readonly isCached: boolean
}

/** Answers that are reused while the database is unchanged. Every request reads the database's snapshot to check that, so a reused answer is never older than a new one. An answer is cached at its second request: most requests are not repeated before the next block.
 */
export class UnchangedAnswers {
  readonly #answers = new LRUCache<string, Stored>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ data }) => data.bytes.length + ENTRY_BYTES,
  })
  readonly #seenKeys = new LRUCache<string, true>({ maxSize: MAX_SEEN_BYTES, sizeCalculation: sizeOfKey })
  readonly #addresses = new LRUCache<string, RepeatedRequest>({
    maxSize: MAX_ADDRESS_BYTES,
    sizeCalculation: sizeOfKey,
  })
  readonly #underway = new Map<string, Promise<AnswerData>>()
  readonly #snapshotRead: SharedRead<string | undefined>
  readonly #isCaching: boolean
  #silentUntilMs = 0
  #slowUntilMs = 0
  /** The latest snapshot. */
  #newest: string | undefined
  /** Incremented by `clear`: answers of earlier queries are not cached. */
  #age = 0

  /** @param isCaching false caches nothing, for measurements. */
  constructor(database: Pick<RequestDatabase, 'run'>, isCaching = true) {
    this.#isCaching = isCaching
    this.#snapshotRead = new SharedRead(() =>
      within(SNAPSHOT_TIMEOUT_MS, database.run(currentSnapshot, { caller: 'snapshot', isBrief: true })),
    )
  }

  /** Bytes held, roughly; at most 56 MB. */
  get bytes(): number {
    return this.#answers.calculatedSize + this.#seenKeys.calculatedSize + this.#addresses.calculatedSize
  }

  clear(): void {
    this.#age++
    this.#answers.clear()
    this.#addresses.clear()
    this.#underway.clear()
  }

  /** The answer to a request.
   * @param session reads the snapshot; `create` reads from it too.
   * @throws any error of `create`.
   */
  async answer(
    session: Session,
    { key, clock }: Pick<RepeatedRequest, 'key' | 'clock'>,
    create: () => Promise<Json>,
  ): Promise<AnswerResult> {
    if (!this.#isCaching || !this.#isRepeated(key) || this.#isSilent)
      return { data: await create(), isCached: false }
    const seen = this.#newest
    // A new answer is at least as new as the latest snapshot: it may be cached for that one. It will not be found after a
    // later commit.
    if (seen !== undefined && !this.#mayHave(key, sinceOf(seen, clock))) {
      return { data: await this.#create(key, seen, sinceOf(seen, clock), create), isCached: false }
    }
    const snapshot = this.#note(await currentSnapshot(session))
    if (snapshot === undefined) return { data: await create(), isCached: false }
    const since = sinceOf(snapshot, clock)
    const cached = this.#answers.get(key)
    if (cached?.since === since) return { data: cached.data, isCached: true }
    // A query that began with the same snapshot can be joined: it shows nothing older.
    const underway = this.#underway.get(`${since} ${key}`)
    if (underway) {
      try {
        return { data: await underway, isCached: true }
      } catch (error) {
        if (isLasting(error)) throw error
      }
    }
    return { data: await this.#create(key, snapshot, since, create), isCached: false }
  }

  /** Whether an answer for a snapshot is cached, or its query is running. */
  #mayHave(key: string, since: string): boolean {
    return this.#answers.get(key)?.since === since || this.#underway.has(`${since} ${key}`)
  }

  /** Remembers the URL of a request without a body. */
  remember(address: string, request: RepeatedRequest): void {
    if (!this.#isCaching || address.length > MAX_ADDRESS_LENGTH || this.#addresses.get(address) !== undefined)
      return
    this.#addresses.set(address, request)
  }

  /** The answer for an identical URL; undefined at once when none is cached, and later when something has changed, or the snapshot could not be read.
   */
  findByAddress(address: string): Promise<RepeatedAnswer | undefined> | undefined {
    const request = this.#addresses.get(address)
    if (!request || this.#isSilent || performance.now() < this.#slowUntilMs) return undefined
    if (!this.#answers.get(request.key)) return undefined
    return this.#findUnchanged(request)
  }

  async #findUnchanged(request: RepeatedRequest): Promise<RepeatedAnswer | undefined> {
    let snapshot: string | undefined
    try {
      snapshot = this.#note(await this.#snapshotRead.read())
    } catch {
      this.#slowUntilMs = performance.now() + SILENT_MS
    }
    const cached = this.#answers.get(request.key)
    if (snapshot === undefined || cached?.since !== sinceOf(snapshot, request.clock)) return undefined
    return { ...request, data: cached.data }
  }

  get #isSilent(): boolean {
    return performance.now() < this.#silentUntilMs
  }

  #isRepeated(key: string): boolean {
    if (this.#seenKeys.get(key)) return true
    this.#seenKeys.set(key, true)
    return false
  }

  #note(snapshot: string | undefined): string | undefined {
    if (snapshot === undefined) this.#silentUntilMs = performance.now() + SILENT_MS
    this.#newest = snapshot
    return snapshot
  }

  #create(key: string, snapshot: string, since: string, create: () => Promise<Json>): Promise<AnswerData> {
    const flight = `${since} ${key}`
    const age = this.#age
    const creating = create()
      .then((json) => {
        const data = AnswerData.of(json)
        const isCurrent = snapshot === this.#newest && age === this.#age
        if (isCurrent && data.bytes.length <= MAX_ANSWER_BYTES) {
          this.#answers.set(key, { since, data })
        }
        return data
      })
      .finally(() => {
        if (this.#underway.get(flight) === creating) this.#underway.delete(flight)
      })
    this.#underway.set(flight, creating)
    return creating
  }
}

function sizeOfKey(_value: unknown, key: string): number {
  return 2 * key.length + ENTRY_BYTES
}

function sinceOf(snapshot: string, clock: (() => number) | undefined): string {
  return clock ? `${snapshot} ${Math.floor(clock() / 1_000)}` : snapshot
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RetryableError('DATABASE_BUSY', `no answer within ${ms} ms`))
    }, ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
