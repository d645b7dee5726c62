import type { Random } from './choice.ts'
import type { CopySink } from './copy-sink.ts'
import { arrayField, bytesField } from './copy-sink.ts'

/** 2021-01-01, the time of block 1 in ms since 1970. */
const FIRST_TIME = 1_609_459_200_000
const BLOCK_MS = 500
/** Most half seconds from one block with events to the next, where there are few. */
const MOST_GAP = 200
/** Blocks that a chain has about, at most: four and a half years. */
const MOST_BLOCKS = 285_000_000
/** Of so many events one is in another block than the one before. */
const EVENTS_PER_BLOCK = 8
/** Most sequences from one event to the next. */
const MOST_FOREIGN = 6_000

/** Time of a block, ms since 1970. */
export function blockTime(block: number): number {
  return FIRST_TIME + block * BLOCK_MS
}

/** The sequence that so many events do not reach: far more than they reach on average, and less than they could. */
export function sequenceAfter(events: number): number {
  return (events + 100_000) * (MOST_FOREIGN / 2) * 1.02
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
  readonly #mostGap: number

  /** @param events about as many as will happen: a busier chain has events in more of its blocks. */
  constructor(sink: CopySink, random: Random, events: number) {
    this.#mostGap = Math.min(MOST_GAP, Math.ceil((MOST_BLOCKS * 2 * EVENTS_PER_BLOCK) / events))
    this.#sink = sink
    this.#random = random
  }

  /** Global sequence of the next event; about eight share a block, and two a transaction. */
  next(): number {
    // Most of the chain is foreign, so the sequence runs fast: millions of events fill several partitions.
    this.#seq += 1 + this.#random.below(MOST_FOREIGN)
    if (this.#offsets.length === 0 || this.#random.chance(1 / EVENTS_PER_BLOCK)) this.#open()
    else if (this.#random.chance(0.5)) this.#transaction()
    return this.#seq
  }

  /** Writes the last block. */
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
