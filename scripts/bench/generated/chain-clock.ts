import type { Random } from './choice.ts'
import type { RowSink } from './copy-sink.ts'
import { arrayField, bytesField } from './copy-sink.ts'

/** Time of block 0, ms since 1970: 2021-01-01. */
const FIRST_TIME = 1_609_459_200_000
const BLOCK_MS = 500
/** Largest gap between two blocks with events, in blocks of half a second, on a chain with few events. */
const MOST_GAP = 200
/** Approximate limit of the chain's length, in blocks: four and a half years. */
const MOST_BLOCKS = 285_000_000
/** Average number of events per block with events. */
const EVENTS_PER_BLOCK = 8
/** Largest difference between the global sequences of two successive events. */
const MOST_FOREIGN = 6_000

/** Time of a block, ms since 1970. */
export function blockTime(block: number): number {
  return FIRST_TIME + block * BLOCK_MS
}

/**
 * Upper bound of the global sequence after a number of events: well above the average, below the theoretical maximum.
 */
export function sequenceAfter(events: number): number {
  return (events + 100_000) * (MOST_FOREIGN / 2) * 1.02
}

/** Assigns sequence, transaction and block to events, and writes the blocks. */
export class ChainClock {
  block = 1
  readonly #sink: RowSink
  readonly #random: Random
  #seq = 1_000
  #firstSeq = 0
  #offsets: number[] = []
  #txids: string[] = []
  readonly #mostGap: number

  /** @param events approximate number of events: a busier chain has events in more of its blocks. */
  constructor(sink: RowSink, random: Random, events: number) {
    this.#mostGap = Math.min(MOST_GAP, Math.ceil((MOST_BLOCKS * 2 * EVENTS_PER_BLOCK) / events))
    this.#sink = sink
    this.#random = random
  }

  /** Global sequence of the next event. About eight events share a block, and two a transaction. */
  next(): number {
    // Most actions of a real chain are foreign, so sequences grow fast: millions of events fill several partitions.
    this.#seq += 1 + this.#random.below(MOST_FOREIGN)
    if (this.#offsets.length === 0 || this.#random.chance(1 / EVENTS_PER_BLOCK)) this.#open()
    else if (this.#random.chance(0.5)) this.#transaction()
    return this.#seq
  }

  /** Writes the row of the last block, after the last event. */
  end(): void {
    this.#close()
  }

  #open(): void {
    this.#close()
    this.block += 1 + this.#random.below(this.#mostGap)
    this.#firstSeq = this.#seq
    this.#transaction()
  }

  #transaction(): void {
    this.#offsets.push(this.#seq - this.#firstSeq)
    this.#txids.push(this.#seq.toString(16).padStart(16, '0').repeat(4))
  }

  #close(): void {
    if (this.#offsets.length === 0) return
    this.#sink.add([
      this.#firstSeq,
      blockTime(this.block),
      this.block,
      arrayField(this.#offsets),
      bytesField(this.#txids.join('')),
    ])
    this.#offsets = []
    this.#txids = []
  }
}
