/**
 * Decides, block by block, whether events are published. A reader starts with the block after the one at which it
 * reached the head, and continues as long as it does not fall too far behind; after a restart it resumes where it stopped.
 * So nothing is published while a reader catches up, and nothing is missing from what it publishes.
 */
export class LiveMode {
  #live: boolean
  readonly #maxBehind: number

  /**
   * @param isWhole whether everything up to the next block has been published, as after a restart of a reader at the head.
   * @param maxBehind blocks behind the head from which on a reader stops publishing.
   */
  constructor(isWhole: boolean, maxBehind: number) {
    this.#live = isWhole
    this.#maxBehind = maxBehind
  }

  /** Whether the reader publishes what it reads now. */
  get isLive(): boolean {
    return this.#live
  }

  /** Whether the next block is published, which is `behind` blocks below where the reader is going. */
  publishes(behind: number): boolean {
    if (behind > this.#maxBehind) this.#live = false
    return this.#live
  }

  /** Notes that a block was read; true when it is the one at which the reader reached the head. */
  hasArrived(behind: number): boolean {
    if (this.#live || behind > 0) return false
    this.#live = true
    return true
  }
}
