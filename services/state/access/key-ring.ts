import { notReady } from '../answers/index.ts'
import type { Refusal } from '../answers/index.ts'
import type { Queryable } from './api-keys.ts'
import { loadSigningKeys } from './signing-keys.ts'
import type { SigningKey } from './signing-keys.ts'

/** Age limits of the cached keys, ms; tests use shorter limits. */
export interface KeyRingTiming {
  /** Maximum age of cached keys that are used without reading the keys again, ms. */
  readonly freshMs: number
  /**
   * Maximum age of cached keys, ms: older keys are not used. Limits how long a service accepts a revoked key while the
   * database is unavailable.
   */
  readonly usableMs: number
  /** Minimum time between two lookups of unknown key ids, ms, for all clients together. */
  readonly unknownMs: number
}

const defaultTiming: KeyRingTiming = { freshMs: 5_000, usableMs: 15_000, unknownMs: 1_000 }

/**
 * Tolerance when times of other services are compared, seconds: their clocks differ, and tokens contain whole seconds.
 */
const CLOCK_SECONDS = 3

/** Cache of the signing keys and of the API keys that are not revoked. */
export class KeyRing {
  readonly #database: Queryable
  readonly #timing: KeyRingTiming
  #signing: readonly SigningKey[] = []
  #active: ReadonlyMap<string, number> = new Map()
  #readAtMs = -Infinity
  /** Wall-clock time at which the keys were last read, ms since 1970; compared with the issue times of tokens. */
  #readAtEpochMs = 0
  #reading: Promise<void> | null = null

  constructor(database: Queryable, timing: Partial<KeyRingTiming> = {}) {
    this.#database = database
    this.#timing = { ...defaultTiming, ...timing }
  }

  /**
   * Reads the keys again if they are older than `freshMs`.
   * @throws Refusal 503 if the keys are older than `usableMs` and cannot be read.
   */
  async refresh(): Promise<void> {
    if (this.#ageMs() < this.#timing.freshMs) return
    try {
      await this.#read()
    } catch (error) {
      // The age of the cached keys is computed after the failure, because an unavailable database takes time to fail.
      if (this.#ageMs() >= this.#timing.usableMs) throw unreadable(error)
    }
  }

  /**
   * The key for signing new tokens: of the keys that are not retired, the key that retires first.
   * @throws Refusal 503 if there is none, or if the keys cannot be read.
   */
  async current(): Promise<SigningKey> {
    await this.refresh()
    const key = this.#signing.find(({ retiredAtMs }) => retiredAtMs > Date.now())
    if (!key) throw notReady('There is no signing key.')
    return key
  }

  /**
   * The signing key with an id; undefined if there is none. For an unknown id the keys are read again, because another
   * process may have just rotated the keys.
   */
  async signingKey(id: string): Promise<SigningKey | undefined> {
    const known = this.#find(id)
    if (known || this.#ageMs() < this.#timing.unknownMs) return known
    await this.#read().catch(() => undefined)
    return this.#find(id)
  }

  /**
   * Whether the API key that a signed token names is still valid. If the key is not cached and the token is
   * newer than the cache, the keys are read from the database. Only tokens with a valid signature can cause
   * such a read.
   *
   * @param issuedAt when the token was issued, seconds since 1970.
   * @throws Refusal 503 if the keys cannot be read.
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

  /** Reads the keys. Concurrent requests share one read. */
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
