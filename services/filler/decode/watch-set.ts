import { nameFromString } from '../../core/antelope/index.ts'

/** Set of watched accounts, looked up by the raw halves of their names. */
export interface WatchSet {
  readonly accounts: readonly string[]
  /** Whether the name with these unsigned halves is in the set. */
  has(lo: number, hi: number): boolean
}

/** Creates the set of watched accounts. @throws EncodeError if an account is not a valid name. */
export function createWatchSet(accounts: Iterable<string>): WatchSet {
  return new NameTable([...accounts])
}

/**
 * Hash table with open addressing, at most one eighth full: nearly every lookup is a miss and ends at the first slot.
 */
class NameTable implements WatchSet {
  readonly accounts: readonly string[]
  readonly #mask: number
  readonly #lo: Uint32Array
  readonly #hi: Uint32Array
  readonly #used: Uint8Array

  constructor(accounts: readonly string[]) {
    this.accounts = [...new Set(accounts)]
    let size = 16
    while (size < this.accounts.length * 8) size *= 2
    this.#mask = size - 1
    this.#lo = new Uint32Array(size)
    this.#hi = new Uint32Array(size)
    this.#used = new Uint8Array(size)
    for (const account of this.accounts) {
      const { lo, hi } = nameFromString(account)
      let slot = hash(lo, hi) & this.#mask
      while (this.#used[slot] === 1) slot = (slot + 1) & this.#mask
      this.#used[slot] = 1
      this.#lo[slot] = lo
      this.#hi[slot] = hi
    }
  }

  has(lo: number, hi: number): boolean {
    for (let slot = hash(lo, hi) & this.#mask; this.#used[slot] === 1; slot = (slot + 1) & this.#mask) {
      if (this.#lo[slot] === lo && this.#hi[slot] === hi) return true
    }
    return false
  }
}

function hash(lo: number, hi: number): number {
  return (Math.imul(lo, 0x9e3779b1) ^ Math.imul(hi, 0x85ebca6b)) >>> 15
}
