import { RecentlyUsed } from '../../../cache/index.ts'
import type { Json } from '../../../json/index.ts'
import { KeptJson } from '../../../json/index.ts'
import type { Part } from './part-cache.ts'

/** What JSON is made of: what is kept is told by its identity, a text by its characters. */
export type Ingredient = Part | KeptJson | string | undefined

interface Composed {
  readonly of: readonly Ingredient[]
  readonly json: KeptJson
}

/**
 * Keeps JSON that was made of some parts, for as long as these parts are the same: what a page of assets has in common
 * with the next, and records of which nothing has changed, go into the answer as they are.
 */
export class ComposedJson {
  readonly #kept: RecentlyUsed<Composed>

  constructor(maxBytes: number) {
    this.#kept = new RecentlyUsed(maxBytes)
  }

  /** Bytes held, roughly. */
  get bytes(): number {
    return this.#kept.bytes
  }

  clear(): void {
    this.#kept.clear()
  }

  /**
   * The JSON that `make` makes, kept.
   * @param key says what is made, and of which rows.
   * @param of everything that it is made of.
   */
  get(key: string, of: readonly Ingredient[], make: () => Json): KeptJson {
    const kept = this.#kept.get(key)
    if (kept && isSame(kept.of, of)) return kept.json
    const json = new KeptJson(make())
    this.#kept.set(
      key,
      { of, json },
      of.reduce((sum, each) => sum + heldBytes(each), json.bytes.length),
    )
    return json
  }
}

/** What an entry may hold alone. Parts belong to many, and are counted where they are kept. */
function heldBytes(ingredient: Ingredient): number {
  if (typeof ingredient === 'string') return 2 * ingredient.length
  return ingredient instanceof KeptJson ? ingredient.bytes.length : 0
}

/** A part that was made anew is another, even with the same texts. */
function isSame(kept: readonly Ingredient[], given: readonly Ingredient[]): boolean {
  return kept.length === given.length && kept.every((each, index) => each === given[index])
}
