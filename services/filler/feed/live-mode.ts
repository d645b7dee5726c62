/**
 * Decides for each block whether its events are published. Publishing starts with the block after the block at which the
 * reader reached the head, and stops when the reader falls `maxBehind` blocks behind. After a restart the reader
 * resumes where it stopped. So a reader publishes nothing while catching up, and its published events have no holes.
 */
export class LiveMode {
  #live: boolean
  readonly #maxBehind: number

  /**
   * @param isWhole whether all blocks before the next one have been published, as after a restart at the
   * head.
   * @param maxBehind distance to the head, in blocks, above which publishing stops.
   */
  constructor(isWhole: boolean, maxBehind: number) {
    this.#live = isWhole
    this.#maxBehind = maxBehind
  }

  /** Whether the reader currently publishes events. */
  get isLive(): boolean {
    return this.#live
  }

  /**
   * Whether to publish the next block, which is `behind` blocks below the head (or below the last irreversible block).
   */
  publishes(behind: number): boolean {
    if (behind > this.#maxBehind) this.#live = false
    return this.#live
  }

  /** Records that a block was read; true if the reader reached the head with it. */
  hasArrived(behind: number): boolean {
    if (this.#live || behind > 0) return false
    this.#live = true
    return true
  }
}
