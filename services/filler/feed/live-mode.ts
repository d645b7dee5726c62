/**
 * Decides, block by block, whether clients are told. A reader begins to tell with the block after the one at which it
 * reached the head, and goes on as long as it does not fall too far behind; after a restart it goes on where it stopped.
 * So nothing is told while a reader catches up, and nothing is missing from what it tells.
 */
export class LiveMode {
  private live: boolean
  private readonly maxBehind: number

  /**
   * @param isWhole whether everything up to the next block has been told, as after a restart of a reader at the head.
   * @param maxBehind blocks behind the head from which on a reader stops telling.
   */
  constructor(isWhole: boolean, maxBehind: number) {
    this.live = isWhole
    this.maxBehind = maxBehind
  }

  /** Whether the reader tells what it reads at present. */
  get isLive(): boolean {
    return this.live
  }

  /** Whether the next block is told, which is `behind` blocks below where the reader is going. */
  tells(behind: number): boolean {
    if (behind > this.maxBehind) this.live = false
    return this.live
  }

  /** Notes that a block was read; true when it is the one at which the reader reached the head. */
  hasArrived(behind: number): boolean {
    if (this.live || behind > 0) return false
    this.live = true
    return true
  }
}
