import type { Json } from '../../../json/index.ts'
import { KeptJson } from '../../../json/index.ts'
import { RecentlyUsed } from '../../../cache/index.ts'

/** Makes the records of some keys, by key. A key without a row is missing. */
export type MakeRecords = (keys: readonly string[]) => Promise<ReadonlyMap<string, Json>>

/**
 * Keeps records for as long as the database stays what it was when a page of them was read (see `MOMENT`): nothing
 * that they are made of can have changed then. Between two blocks that is what most requests find.
 */
export class UnchangedRecords {
  readonly #kept: RecentlyUsed<KeptJson>
  #moment: string | undefined

  constructor(maxBytes: number) {
    this.#kept = new RecentlyUsed(maxBytes)
  }

  /** Bytes held, roughly. */
  get bytes(): number {
    return this.#kept.bytes
  }

  clear(): void {
    this.#kept.clear()
    this.#moment = undefined
  }

  /**
   * The records of keys in their order; one that is gone is left out.
   * @param kind tells apart what different renderers make of the same key.
   * @param moment what the statement that selected the keys saw, and whatever else the records depend on; undefined
   *   when that is not known.
   * @param make makes the records that are not kept, from statements that run now: they show that moment or a later one.
   */
  async render(
    kind: string,
    moment: string | undefined,
    keys: readonly string[],
    make: MakeRecords,
  ): Promise<KeptJson[]> {
    if (keys.length === 0) return []
    const isKept = moment !== undefined
    if (isKept && moment !== this.#moment) {
      this.#kept.clear()
      this.#moment = moment
    }
    const found = new Map<string, KeptJson>()
    const missing: string[] = []
    for (const key of keys) {
      const record = isKept ? this.#kept.get(`${kind} ${key}`) : undefined
      if (record) found.set(key, record)
      else missing.push(key)
    }
    for (const [key, json] of missing.length === 0 ? [] : await make(missing)) {
      // Also where it is not kept: lists have the same entity tag whoever answers.
      const record = json instanceof KeptJson ? json : new KeptJson(json)
      found.set(key, record)
      if (isKept && moment === this.#moment) {
        this.#kept.set(`${kind} ${key}`, record, record.bytes.length)
      }
    }
    return known(keys, found)
  }
}

function known(keys: readonly string[], records: ReadonlyMap<string, KeptJson>): KeptJson[] {
  return keys.map((key) => records.get(key)).filter((record) => record !== undefined)
}
