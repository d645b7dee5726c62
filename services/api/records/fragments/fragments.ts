import { answerTooLarge } from '../../request/index.ts'
import { MAX_BYTES_AT_ONCE, partsBySize, storedBytes, textsBytes, TooMuchAtOnce } from '../sizes/index.ts'
import { LRUCache } from 'lru-cache'
import { compileMembers } from '../fields/index.ts'
import type { Field } from '../fields/index.ts'
import type { Session } from '../../database/index.ts'
import { packRows, unpackRows } from '../../database/index.ts'

/** A kind of fragments. A fragment is JSON text that many records share, such as the collection inside its assets. */
export interface FragmentKind {
  /** Unique name of this kind of fragments. */
  readonly name: string
  /** SQL of the key of a fragment. */
  readonly key: string
  /** SQL of the version, which changes whenever the content of the fragment changes. */
  readonly version: string
  readonly texts: readonly FragmentText[]
  /**
   * SQL of the `jsonb` columns that can make a fragment large. Their sizes are measured before the fragments are read.
   */
  readonly large?: readonly string[]
  /**
   * FROM and WHERE clauses of the query.
   * @param keys placeholder of the array of keys.
   */
  readonly from: (keys: string) => string
  /** Maximum size of the cache of this kind of fragments, bytes. */
  readonly maxBytes: number
  /** Size of values that are assembled from a fragment and evicted together with it, bytes. Default 0. */
  readonly assembledBytes?: number
}

/** A text of a fragment: the columns, and the function that writes the text from them. */
export interface FragmentText {
  readonly columns: readonly string[]
  readonly text: (row: readonly string[]) => string
}

/** Declares a text with the members of an object, without braces. */
export function membersText(members: Readonly<Record<string, Field>>): FragmentText {
  const { columns, text } = compileMembers(members)
  return { columns, text: (row) => text(row, { given: {} }) as string }
}

/** SQL of the total size of the texts of a fragment, bytes. */
export function fragmentBytes({ texts }: FragmentKind): string {
  const names = texts.reduce((sum, { columns, text }) => sum + text(columns.map(() => '')).length, 0)
  return `${names} + ${textsBytes(texts.flatMap(({ columns }) => columns))}`
}

/**
 * Texts of a shared row in one version. The kind of the row defines the meaning of each text. A text is empty if the
 * value is null.
 */
export interface Fragment {
  readonly version: string
  readonly texts: readonly string[]
}

/** Fragments to load. For each kind of fragment: the version that is wanted of each key. */
export type WantedFragments = ReadonlyMap<FragmentKind, ReadonlyMap<string, string>>

const none: ReadonlyMap<string, Fragment> = new Map()

export class FoundFragments {
  readonly #found = new Map<FragmentKind, Map<string, Fragment>>()

  get(kind: FragmentKind, key: string): Fragment | undefined {
    return this.#found.get(kind)?.get(key)
  }

  /** All found fragments of one fragment kind, by fragment key. */
  of(kind: FragmentKind): ReadonlyMap<string, Fragment> {
    return this.#found.get(kind) ?? none
  }

  add(kind: FragmentKind, key: string, fragment: Fragment): void {
    const ofKind = this.#found.get(kind)
    if (ofKind) ofKind.set(key, fragment)
    else this.#found.set(kind, new Map([[key, fragment]]))
  }
}

/** Maximum number of keys in one statement. */
const BATCH = 5_000
/** Approximate memory of a cache entry without its texts, bytes. */
const ENTRY_BYTES = 300

type Missing = readonly [kind: FragmentKind, key: string]

/** Settings for reading fragments. */
export interface FragmentSettings {
  /** Whether fragments are cached. Default true; measurements turn the cache off. */
  readonly isCaching?: boolean
  /** `limits.answer_bytes` of the configuration. Default: no limit. */
  readonly maxBytes?: number
}

/**
 * Cache of fragments by key. Each fragment has the version of its row. A reader requests the version that its own
 * statement has just read, so no outdated fragment is returned, and the cache needs no invalidation. One change number
 * for all rows in place of a version for each row would save at most 7 to 13 % of the processor time of a page of 100
 * assets (measured without versions, 2026-11-30).
 */
export class Fragments {
  readonly #caches = new Map<FragmentKind, LRUCache<string, Fragment>>()
  readonly #isCaching: boolean

  /** Maximum size of the fragments of one answer, bytes. */
  readonly maxBytes: number

  constructor({ isCaching = true, maxBytes = Infinity }: FragmentSettings = {}) {
    this.#isCaching = isCaching
    this.maxBytes = maxBytes
  }

  clear(): void {
    this.#caches.clear()
  }

  /**
   * Loads the fragments with the given keys and versions, in one statement for all kinds unless there are more than
   * BATCH keys. If a row has changed since its version was read, its newer version is returned. A deleted row is absent
   * from the result.
   * @throws TooMuchAtOnce if the fragments are too large to be read at once.
   */
  async load(session: Session, wanted: WantedFragments): Promise<FoundFragments> {
    const { found, missing } = this.#find(wanted)
    for (let at = 0; at < missing.length; at += BATCH) {
      await this.#read(session, missing.slice(at, at + BATCH), found)
    }
    return found
  }

  /**
   * Loads fragments like `load`. Fragments that are too large for one statement are read in several statements.
   * @throws RequestError 400 if the fragments are too large for an answer.
   */
  async loadAll(session: Session, wanted: WantedFragments): Promise<FoundFragments> {
    try {
      return await this.load(session, wanted)
    } catch (error) {
      if (!(error instanceof TooMuchAtOnce)) throw error
    }
    const { found, missing } = this.#find(wanted)
    const sizes = await this.#measure(session, missing)
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    if (bytes > this.maxBytes) throw answerTooLarge({ bytes, maxBytes: this.maxBytes })
    for (const part of partsBySize(missing, sizes)) await this.#read(session, part, found, false)
    return found
  }

  #find(wanted: WantedFragments): { found: FoundFragments; missing: Missing[] } {
    const found = new FoundFragments()
    const missing: Missing[] = []
    for (const [kind, versions] of wanted) {
      const cache = this.#cacheOf(kind)
      for (const [key, version] of versions) {
        const cached = cache.get(key)
        if (cached?.version === version) found.add(kind, key, cached)
        else missing.push([kind, key])
      }
    }
    return { found, missing }
  }

  async #read(
    session: Session,
    missing: readonly Missing[],
    found: FoundFragments,
    isGuarded = true,
  ): Promise<void> {
    const kinds = [...new Set(missing.map(([kind]) => kind))]
    const columns = kinds.map(({ key, version, texts, from }, index) => {
      const values = texts.flatMap((each) => each.columns)
      return `(SELECT ${packRows([key, version, ...values])} ${from(`$${index + 1}`)})`
    })
    const sizes = isGuarded ? kinds.flatMap(storedSize) : []
    const isTooMuch = sizes.length === 0 ? 'false' : `${sizes.join(' + ')} > ${MAX_BYTES_AT_ONCE}`
    const [row] = await session.query<[boolean, ...(string | null)[]]>({
      name: `fragments ${kinds.map(({ name }) => name).join(' ')} ${isGuarded ? '' : 'unguarded'}`,
      text: `WITH guard AS MATERIALIZED (SELECT ${isTooMuch} AS is_too_much)
        SELECT is_too_much, ${columns.map((column) => `CASE WHEN NOT is_too_much THEN ${column} END`).join(', ')} FROM guard`,
      values: keysOf(kinds, missing),
    })
    const [isRefused, ...packed] = row!
    if (isRefused) throw new TooMuchAtOnce()
    kinds.forEach((kind, index) => {
      for (const [key, version, ...values] of unpackRows<[string, string, ...string[]]>(packed[index])) {
        const fragment = { version: copyOf(version), texts: textsOf(kind, values) }
        found.add(kind, key, fragment)
        if (this.#isCaching) this.#cacheOf(kind).set(copyOf(key), fragment)
      }
    })
  }

  /** Reads the sizes of the texts of fragments, bytes. The size is 0 for a deleted row. */
  async #measure(session: Session, missing: readonly Missing[]): Promise<number[]> {
    const kinds = [...new Set(missing.map(([kind]) => kind))]
    const columns = kinds.map((kind, index) => {
      return `(SELECT ${packRows([kind.key, fragmentBytes(kind)])} ${kind.from(`$${index + 1}`)})`
    })
    const [row] = await session.query<(string | null)[]>({
      name: `sizes of fragments ${kinds.map(({ name }) => name).join(' ')}`,
      text: `SELECT ${columns.join(', ')}`,
      values: keysOf(kinds, missing),
    })
    const sizes = new Map(
      kinds.map((kind, index) => [kind, new Map(unpackRows<[string, string]>(row?.[index]))]),
    )
    return missing.map(([kind, key]) => Number(sizes.get(kind)?.get(key) ?? 0))
  }

  #cacheOf(kind: FragmentKind): LRUCache<string, Fragment> {
    const known = this.#caches.get(kind)
    if (known) return known
    const cache = createCache(kind)
    this.#caches.set(kind, cache)
    return cache
  }
}

function keysOf(kinds: readonly FragmentKind[], missing: readonly Missing[]): string[][] {
  return kinds.map((kind) => missing.filter(([of]) => of === kind).map(([, key]) => key))
}

/** SQL of the total size of the columns that can make the fragments of a kind large; none if the kind has no such column. */
function storedSize({ large, from }: FragmentKind, index: number): string[] {
  if (!large) return []
  return [`(SELECT coalesce(sum(${large.map(storedBytes).join(' + ')}), 0) ${from(`$${index + 1}`)})`]
}

function createCache({ maxBytes, assembledBytes = 0 }: FragmentKind): LRUCache<string, Fragment> {
  return new LRUCache({
    maxSize: maxBytes,
    // A character of a JavaScript string takes at most two bytes of memory.
    sizeCalculation: ({ texts }, key) =>
      texts.reduce((sum, text) => sum + 2 * text.length, 2 * key.length + ENTRY_BYTES + assembledBytes),
  })
}

function textsOf({ texts }: FragmentKind, values: readonly string[]): string[] {
  let at = 0
  return texts.map(({ columns, text }) => copyOf(text(values.slice(at, (at += columns.length)))))
}

/** Copies a text. A slice of a longer text would keep the whole longer text in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
