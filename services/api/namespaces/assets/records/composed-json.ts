import type { Part } from './part-cache.ts'
import { RecentlyUsed } from '../../../cache/index.ts'

interface Composed {
  readonly of: readonly (Part | undefined)[]
  readonly bytes: Uint8Array
}

/**
 * Keeps the bytes that were made of some parts, for as long as these parts are the same: what a page of assets has in
 * common with the next goes into the answer as it is.
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
   * The UTF-8 bytes of a text.
   * @param key says what is made, and of which rows.
   * @param of the parts that it is made of.
   */
  get(key: string, of: readonly (Part | undefined)[], make: () => string): Uint8Array {
    const kept = this.#kept.get(key)
    if (kept && isSame(kept.of, of)) return kept.bytes
    const text = make()
    // Memory of its own: a piece of Node's pool would hold on to its neighbours.
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    bytes.write(text)
    this.#kept.set(key, { of, bytes }, bytes.length)
    return bytes
  }
}

/** A part that was made anew is another, even with the same texts. */
function isSame(kept: readonly (Part | undefined)[], parts: readonly (Part | undefined)[]): boolean {
  return kept.length === parts.length && kept.every((part, index) => part === parts[index])
}
