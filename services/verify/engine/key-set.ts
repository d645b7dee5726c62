import type { VerifiedTable } from '../tables/index.ts'

const PAGE_BITS = 15n
const PAGE_BYTES = 2 ** (15 - 3)

/**
 * Set of the primary keys seen in a table: ids are bits of a bitmap, which is small for dense ids; other keys are text.
 */
export class KeySet {
  readonly #isNumber: boolean
  readonly #pages = new Map<bigint, Uint8Array>()
  readonly #texts = new Set<string>()

  constructor({ key }: VerifiedTable) {
    this.#isNumber = key.length === 1 && key[0]!.type !== 'text'
  }

  add(key: readonly string[]): void {
    if (!this.#isNumber) {
      this.#texts.add(keyText(key))
      return
    }
    const number = BigInt(key[0]!)
    let page = this.#pages.get(number >> PAGE_BITS)
    if (page === undefined) {
      page = new Uint8Array(PAGE_BYTES)
      this.#pages.set(number >> PAGE_BITS, page)
    }
    const bit = Number(BigInt.asUintN(Number(PAGE_BITS), number))
    page[bit >> 3]! |= 1 << (bit & 7)
  }

  has(key: readonly string[]): boolean {
    if (!this.#isNumber) return this.#texts.has(keyText(key))
    const number = BigInt(key[0]!)
    const page = this.#pages.get(number >> PAGE_BITS)
    const bit = Number(BigInt.asUintN(Number(PAGE_BITS), number))
    return page !== undefined && (page[bit >> 3]! & (1 << (bit & 7))) !== 0
  }
}

/** The values of the primary key columns of a row as one text. */
export function keyText(key: readonly string[]): string {
  return key.join('/')
}
