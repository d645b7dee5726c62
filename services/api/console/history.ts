import { TimeLeft } from '../../core/progress/index.ts'
import type { HealthState, ReaderState } from '../health/index.ts'
import type { HistoryRange, HistoryView } from './data.ts'
import { SpeedLine } from './speed-line.ts'
import type { Look } from './speed-line.ts'

/** A position that drops by at most this number of blocks is a fork. A larger drop is a reader that indexes again. */
const MAX_FORK_BLOCKS = 5_000

/**
 * Maximum number of readers whose speed history is stored. Only this limit removes the speed history of a deleted
 * reader.
 */
const MAX_READERS = 64

interface ReaderHistory extends Readonly<Record<HistoryRange, SpeedLine>> {
  readonly timeLeft: TimeLeft
  /** Highest position of the reader. */
  top: number
  /** Time when the reader fell below its highest position; null if the reader is not below it. */
  belowSinceMs: number | null
}

/**
 * Speed of the readers over the last minutes and the last day, and the start of each health problem, as this process
 * has observed them.
 */
export class ProgressHistory {
  readonly #readers = new Map<string, ReaderHistory>()
  /**
   * First observation of each health reason. The key is the reason's text without numbers, because the numbers change
   * while a problem lasts.
   */
  #problems: ReadonlyMap<string, number> = new Map()
  #lastLookMs: number | undefined

  /** Records a health state and its reasons. */
  look({ database, readers }: HealthState, reasons: readonly string[], nowMs: number): void {
    if (database === 'up') this.note(readers, nowMs)
    this.#problems = new Map(
      reasons.map((reason) => [problemOf(reason), this.#problems.get(problemOf(reason)) ?? nowMs]),
    )
  }

  /**
   * Time since which this process has observed a health reason, ms since 1970; null if the reason was absent in the
   * last observation.
   */
  since(reason: string): number | null {
    return this.#problems.get(problemOf(reason)) ?? null
  }

  /** Records the positions of the readers. */
  note(readers: readonly ReaderState[], nowMs: number): void {
    for (const reader of readers) {
      const history = this.#readers.get(reader.name) ?? this.#begin(reader)
      noteTop(history, reader.blockNum, nowMs)
      noteLook(history, {
        atMs: nowMs,
        block: reader.blockNum,
        head: reader.headBlock ?? reader.blockNum,
      })
    }
    this.#lastLookMs = nowMs
  }

  /**
   * Returns the last block of the fork that a reader is replacing, and the start of the fork. Null if there is no fork.
   */
  fork(reader: string): { readonly to_block: number; readonly since: number } | null {
    const { top = 0, belowSinceMs = null } = this.#readers.get(reader) ?? {}
    return belowSinceMs === null ? null : { to_block: top, since: belowSinceMs }
  }

  /** Blocks per second of a reader over the period of `range`. */
  rates(reader: string, range: HistoryRange): HistoryView {
    return this.#readers.get(reader)?.[range].view() ?? { times: [], rates: [] }
  }

  /**
   * Estimated seconds until the reader reaches the head of the chain, which moves meanwhile; null if there is no
   * estimate.
   */
  secondsLeft(reader: string, lagBlocks: number): number | null {
    if (lagBlocks === 0) return 0
    const seconds = this.#readers.get(reader)?.timeLeft.seconds ?? null
    return seconds === null ? null : Math.round(seconds)
  }

  /**
   * Starts the speed history of a reader. For a reader that appears after the first observation, the history begins at
   * the last observation, with no block read: all blocks of the reader count as read since then.
   */
  #begin({ name, startBlock, headBlock, blockNum }: ReaderState): ReaderHistory {
    const history = {
      recent: new SpeedLine({ windowMs: 3_000, stalledMs: 20_000, missedMs: 10_000, retainedMs: 600_000 }),
      day: new SpeedLine({ windowMs: 60_000, stalledMs: 60_000, missedMs: 60_000, retainedMs: 86_400_000 }),
      timeLeft: new TimeLeft(),
      top: 0,
      belowSinceMs: null,
    }
    if (this.#lastLookMs !== undefined) {
      noteLook(history, { atMs: this.#lastLookMs, block: startBlock - 1, head: headBlock ?? blockNum })
    }
    const [oldest] = this.#readers.keys()
    if (this.#readers.size >= MAX_READERS && oldest !== undefined) this.#readers.delete(oldest)
    this.#readers.set(name, history)
    return history
  }
}

function noteTop(history: ReaderHistory, block: number, nowMs: number): void {
  const isFork = block < history.top && history.top - block <= MAX_FORK_BLOCKS
  history.belowSinceMs = isFork ? (history.belowSinceMs ?? nowMs) : null
  if (!isFork) history.top = block
}

function noteLook({ recent, day, timeLeft }: ReaderHistory, look: Look): void {
  recent.note(look)
  day.note(look)
  timeLeft.note(look.atMs, look.block, look.head)
}

/** Returns a health reason with `#` in place of each number. */
function problemOf(reason: string): string {
  return reason.replaceAll(/\d+/g, '#')
}
