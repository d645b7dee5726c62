import type { Random } from './choice.ts'
import type { CopySink } from './copy-sink.ts'
import { arrayField, bytesField } from './copy-sink.ts'

/** 2021-01-01, the time of block 1 in ms since 1970. */
const FIRST_TIME = 1_609_459_200_000
const BLOCK_MS = 500
/** Most half seconds from one block with events to the next. */
const MOST_GAP = 200

/** Time of a block, ms since 1970. */
export function blockTime(block: number): number {
  return FIRST_TIME + block * BLOCK_MS
}

/** Gives events their sequence, transaction and block, and writes the blocks. */
export class ChainClock {
  block = 1
  readonly #sink: CopySink
  readonly #random: Random
  #seq = 1_000
  #firstSeq = 0
  #offsets: number[] = []
  #txids: string[] = []

  constructor(sink: CopySink, random: Random) {
    this.#sink = sink
    this.#random = random
  }

  /** Global sequence of the next event; about eight share a block, and two a transaction. */
  next(): number {
    // Most of the chain is foreign, so the sequence runs fast: millions of events fill several partitions.
    this.#seq += 1 + this.#random.below(6_000)
    if (this.#offsets.length === 0 || this.#random.chance(0.125)) this.#open()
    else if (this.#random.chance(0.5)) this.#transaction()
    return this.#seq
  }

  /** Writes the last block. */
  end(): void {
    this.#close()
  }

  #open(): void {
    this.#close()
    this.block += 1 + this.#random.below(MOST_GAP)
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
