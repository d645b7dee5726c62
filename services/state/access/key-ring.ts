import { notReady } from '../answers/index.ts'
import type { Refusal } from '../answers/index.ts'
import type { Queryable } from './api-keys.ts'
import { loadSigningKeys } from './signing-keys.ts'
import type { SigningKey } from './signing-keys.ts'

/** How long the keys may go without being read again, in ms; tests shorten it. */
export interface KeyRingTiming {
  /** After this they are read again. */
  readonly freshMs: number
  /**
   * Keys that were read longer ago are not used. It bounds how much later a service refuses a revoked key, also while
   * the database is unavailable.
   */
  readonly usableMs: number
  /** Unknown key ids are looked up at most this often, for all clients together. */
  readonly unknownMs: number
}

const defaultTiming: KeyRingTiming = { freshMs: 5_000, usableMs: 15_000, unknownMs: 1_000 }

/** Clocks of services may differ by this much, and times in tokens are whole seconds. */
const CLOCK_SECONDS = 3

/** The signing keys and the API keys that are good, as of a few seconds ago. */
export class KeyRing {
  readonly #database: Queryable
  readonly #timing: KeyRingTiming
  #signing: readonly SigningKey[] = []
  #active: ReadonlyMap<string, number> = new Map()
  #readAtMs = -Infinity
  /** The same by the clock that tokens are issued by. */
  #readAtEpochMs = 0
  #reading: Promise<void> | null = null

  constructor(database: Queryable, timing: Partial<KeyRingTiming> = {}) {
    this.#database = database
    this.#timing = { ...defaultTiming, ...timing }
  }

  /** Reads the keys again when that is due. @throws Refusal 503 when they are too old and cannot be read. */
  async refresh(): Promise<void> {
    if (this.#ageMs() < this.#timing.freshMs) return
    try {
      await this.#read()
    } catch (error) {
      // A database that does not answer takes its time to fail: the age counts afterwards.
      if (this.#ageMs() >= this.#timing.usableMs) throw unreadable(error)
    }
  }

  /** The key that new tokens are signed with: of those that are not retired, the one that retires first. @throws Refusal 503. */
  async current(): Promise<SigningKey> {
    await this.refresh()
    const key = this.#signing.find(({ retiredAtMs }) => retiredAtMs > Date.now())
    if (!key) throw notReady('There is no signing key.')
    return key
  }

  /** The signing key of an id; undefined when there is none. Another service may have just rotated. */
  async signingKey(id: string): Promise<SigningKey | undefined> {
    const known = this.#find(id)
    if (known || this.#ageMs() < this.#timing.unknownMs) return known
    await this.#read().catch(() => undefined)
    return this.#find(id)
  }

  /**
   * Whether tokens of an API key are still good. A key may be younger than what was read: then it is read again, which
   * only a signed token can cause.
   *
   * @param issuedAt when the token was issued, seconds since 1970.
   * @throws Refusal 503 when a key that young cannot be read.
   */
  async isActive(id: string, issuedAt: number): Promise<boolean> {
    if (!this.#active.has(id) && (issuedAt + CLOCK_SECONDS) * 1_000 > this.#readAtEpochMs) {
      await this.#read().catch((error: unknown) => {
        throw unreadable(error)
      })
    }
    const endsAt = this.#active.get(id)
    return endsAt !== undefined && endsAt > Date.now()
  }

  #ageMs(): number {
    return performance.now() - this.#readAtMs
  }

  #find(id: string): SigningKey | undefined {
    return this.#signing.find((key) => key.id === id)
  }

  /** Requests that come meanwhile wait for the same reading. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #readOnce(): Promise<void> {
    const startedMs = performance.now()
    const startedEpochMs = Date.now()
    const signing = await loadSigningKeys(this.#database)
    const { rows } = await this.#database.query<{ id: string; expires: Date | null }>(
      'SELECT key_id AS id, expires_at AS expires FROM access.api_keys WHERE revoked_at IS NULL',
    )
    this.#signing = signing
    this.#active = new Map(rows.map(({ id, expires }) => [id, expires?.getTime() ?? Infinity]))
    this.#readAtMs = startedMs
    this.#readAtEpochMs = startedEpochMs
  }
}

function unreadable(error: unknown): Refusal {
  return notReady(`The keys cannot be read: ${String(error)}`)
}
