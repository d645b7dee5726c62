import { LRUCache } from 'lru-cache'
import type { Session } from '../database/index.ts'
import { packRows, unpackRows } from './packed-rows.ts'

/** How fragments of one kind are read: JSON texts that many records share, such as the collection inside its assets. */
export interface FragmentKind {
  /** SQL of the key. */
  readonly key: string
  /** SQL of the version, which changes whenever what the fragment shows does. */
  readonly version: string
  /** SQL of its texts. */
  readonly texts: readonly string[]
  /** FROM and WHERE. @param keys placeholder of the keys, an array. */
  readonly from: (keys: string) => string
  /** Cache size, bytes. */
  readonly maxBytes: number
  /** Bytes of what is assembled from one and lives as long as it does. Default 0. */
  readonly assembledBytes?: number
}

/** The texts of a shared row in one version; what each means is up to its kind. Empty for null. */
export interface Fragment {
  readonly version: string
  readonly texts: readonly string[]
}

/** Versions by key, for each kind that is wanted. */
export type WantedFragments<Name extends string> = Readonly<
  Partial<Record<Name, ReadonlyMap<string, string>>>
>

/** Fragments by key. */
export type FoundFragments<Name extends string> = Readonly<Record<Name, ReadonlyMap<string, Fragment>>>

/** Keys of one statement. */
const BATCH = 5_000
/** What an entry takes beside its texts. */
const ENTRY_BYTES = 300

/**
 * Fragments, cached by key and the version of the row that they show. A reader wants the version that its own statement
 * has just seen, so nothing stale is ever served and nothing needs to be invalidated.
 */
export class Fragments<Name extends string> {
  readonly #kinds: Readonly<Record<Name, FragmentKind>>
  readonly #names: readonly Name[]
  readonly #caches: Readonly<Record<Name, LRUCache<string, Fragment>>>

  constructor(kinds: Readonly<Record<Name, FragmentKind>>) {
    this.#kinds = kinds
    this.#names = Object.keys(kinds) as Name[]
    this.#caches = this.#byName((name) => createCache(kinds[name]))
  }

  /** Bytes held, roughly. */
  get bytes(): number {
    return this.#names.reduce((sum, name) => sum + this.#caches[name].calculatedSize, 0)
  }

  clear(): void {
    for (const name of this.#names) this.#caches[name].clear()
  }

  /**
   * The fragments for keys and the versions wanted of them; at most one statement for all kinds. A row that has changed
   * since its version was read comes in its newer form; one that is gone is missing.
   */
  async load(session: Session, wanted: WantedFragments<Name>): Promise<FoundFragments<Name>> {
    const found = this.#byName(() => new Map<string, Fragment>())
    const missing: (readonly [name: Name, key: string])[] = []
    for (const name of this.#names) {
      const cache = this.#caches[name]
      for (const [key, version] of wanted[name] ?? []) {
        const cached = cache.get(key)
        if (cached?.version === version) found[name].set(key, cached)
        else missing.push([name, key])
      }
    }
    for (let at = 0; at < missing.length; at += BATCH) {
      await this.#read(session, missing.slice(at, at + BATCH), found)
    }
    return found
  }

  async #read(
    session: Session,
    missing: readonly (readonly [name: Name, key: string])[],
    found: Readonly<Record<Name, Map<string, Fragment>>>,
  ): Promise<void> {
    const names = this.#names.filter((name) => missing.some(([of]) => of === name))
    const values = names.map((name) => missing.filter(([of]) => of === name).map(([, key]) => key))
    const columns = names.map((name, index) => {
      const { key, version, texts, from } = this.#kinds[name]
      return `(SELECT ${packRows([key, version, ...texts])} ${from(`$${index + 1}`)})`
    })
    const [row] = await session.query<(string | null)[]>({
      name: `fragments ${names.join(' ')}`,
      text: `SELECT ${columns.join(', ')}`,
      values,
    })
    names.forEach((name, index) => {
      for (const [key, version, ...texts] of unpackRows<[string, string, ...string[]]>(row?.[index])) {
        const fragment = { version, texts: texts.map(copyOf) }
        found[name].set(key, fragment)
        this.#caches[name].set(copyOf(key), fragment)
      }
    })
  }

  #byName<T>(make: (name: Name) => T): Readonly<Record<Name, T>> {
    return Object.fromEntries(this.#names.map((name) => [name, make(name)])) as Record<Name, T>
  }
}

function createCache({ maxBytes, assembledBytes = 0 }: FragmentKind): LRUCache<string, Fragment> {
  return new LRUCache({
    maxSize: maxBytes,
    // Text takes two bytes for each character at most.
    sizeCalculation: ({ texts }, key) =>
      texts.reduce((sum, text) => sum + 2 * text.length, 2 * key.length + ENTRY_BYTES + assembledBytes),
  })
}

/** A text of its own: a piece of a longer one would keep all of that in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
