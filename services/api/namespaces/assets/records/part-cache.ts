import type { Session } from '../../../database/index.ts'
import { packRows, queryPacked } from './packed-rows.ts'
import { RecentlyUsed } from '../../../cache/index.ts'

/**
 * How the parts of one kind are made. A part is JSON text that many answers have in common, such as the collection
 * inside each of its assets.
 */
export interface PartKind {
  readonly name: string
  /** SQL of the key, as the cache knows it. */
  readonly key: string
  /** SQL of the version, which changes whenever what the part shows does. */
  readonly version: string
  /** SQL of the texts of the part. */
  readonly texts: readonly string[]
  /** FROM and WHERE, on the keys `$1`. */
  readonly from: string
}

/** The texts of a part; what each means is up to its kind. Empty for null. */
export type Part = readonly string[]

interface Kept {
  readonly version: string
  readonly part: Part
}

/** Keys of one statement. */
const BATCH = 500

/**
 * Keeps parts by key and the version of the row that they were made from. A reader asks for the version that its own
 * query has just seen, so nothing stale is ever served and nothing needs to be invalidated. The least recently used
 * parts are dropped beyond a number of bytes.
 */
export class PartCache {
  readonly #kept: RecentlyUsed<Kept>
  readonly #statement: { readonly name: string; readonly text: string }

  constructor(kind: PartKind, maxBytes: number) {
    this.#kept = new RecentlyUsed(maxBytes)
    this.#statement = {
      name: `part ${kind.name}`,
      text: `SELECT ${packRows([kind.key, kind.version, ...kind.texts])} ${kind.from}`,
    }
  }

  /** Bytes held, roughly. */
  get bytes(): number {
    return this.#kept.bytes
  }

  clear(): void {
    this.#kept.clear()
  }

  /**
   * The parts for keys and the versions wanted of them. A row that has changed since the version was read comes in
   * its newer form; one that is gone is missing.
   */
  async load(session: Session, wanted: ReadonlyMap<string, string>): Promise<Map<string, Part>> {
    const found = new Map<string, Part>()
    const missing: string[] = []
    for (const [key, version] of wanted) {
      const kept = this.#kept.get(key)
      if (kept?.version === version) found.set(key, kept.part)
      else missing.push(key)
    }
    for (let at = 0; at < missing.length; at += BATCH) {
      const values = [missing.slice(at, at + BATCH)]
      const rows = await queryPacked<[string, string, ...string[]]>(session, { ...this.#statement, values })
      for (const [key, version, ...part] of rows) {
        found.set(key, part)
        // Text is kept with two bytes for each character at most.
        this.#kept.set(
          key,
          { version, part },
          part.reduce((sum, text) => sum + 2 * text.length, 0),
        )
      }
    }
    return found
  }
}
