import { TimeLeft } from '../../core/progress/index.ts'
import type { HealthState, ReaderState } from '../health/index.ts'
import type { HistoryRange, HistoryView } from './data.ts'
import { SpeedLine } from './speed-line.ts'
import type { Look } from './speed-line.ts'

/** Largest drop of a position that is a fork; a reader that indexes again drops further. */
const MAX_FORK_BLOCKS = 5_000

/** Maximum number of remembered readers: nothing else removes the history of a deleted reader. */
const MAX_READERS = 64

interface ReaderHistory extends Readonly<Record<HistoryRange, SpeedLine>> {
  readonly timeLeft: TimeLeft
  /** Highest position, and since when the reader is below it; null while it is not. */
  top: number
  belowSinceMs: number | null
}

/**
 * Speed of the readers over the last minutes and the last day, and the start of each health problem, as observed by
 * this process.
 */
export class ProgressHistory {
  readonly #readers = new Map<string, ReaderHistory>()
  /** First observation of each health reason, by its text without numbers: numbers change while a problem lasts. */
  #problems: ReadonlyMap<string, number> = new Map()
  #lastLookMs: number | undefined

  /** Records a health state and its reasons. */
  look({ database, readers }: HealthState, reasons: readonly string[], nowMs: number): void {
    if (database === 'up') this.note(readers, nowMs)
    this.#problems = new Map(
      reasons.map((reason) => [problemOf(reason), this.#problems.get(problemOf(reason)) ?? nowMs]),
    )
  }

  /** Since when a reason has been observed, ms since 1970; null if it has not. */
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

  /** Fork that a reader is replacing: the last replaced block, and since when; null if there is none. */
  fork(reader: string): { readonly to_block: number; readonly since: number } | null {
    const { top = 0, belowSinceMs = null } = this.#readers.get(reader) ?? {}
    return belowSinceMs === null ? null : { to_block: top, since: belowSinceMs }
  }

  /** Blocks per second of a reader over time. */
  rates(reader: string, range: HistoryRange): HistoryView {
    return this.#readers.get(reader)?.[range].view() ?? { times: [], rates: [] }
  }

  /** Estimated seconds until the reader reaches the moving head; null if there is no estimate. */
  secondsLeft(reader: string, lagBlocks: number): number | null {
    if (lagBlocks === 0) return 0
    const seconds = this.#readers.get(reader)?.timeLeft.seconds ?? null
    return seconds === null ? null : Math.round(seconds)
  }

  /** Starts the history of a reader. A reader that was missing at the last look has read all its blocks since then. */
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

/** The text of a reason without its numbers. */
function problemOf(reason: string): string {
  return reason.replaceAll(/\d+/g, '#')
}
