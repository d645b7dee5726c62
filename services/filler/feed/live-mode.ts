/**
 * Decides for each block whether its events are published. Publishing starts with the block after the block at which
 * the reader reached the head. Publishing stops when the reader is more than `maxBehind` blocks behind the head. After
 * a restart at the head, publishing continues with the next block. So a reader publishes nothing while it catches up,
 * and publishes every block between start and stop.
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

  /** Records that a block was read. Returns true if the reader reached the head with this block. */
  hasArrived(behind: number): boolean {
    if (this.#live || behind > 0) return false
    this.#live = true
    return true
  }
}
