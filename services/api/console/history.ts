import { TimeLeft } from '../../core/progress/index.ts'
import type { HealthState, ReaderState } from '../health/index.ts'
import type { HistoryRange, HistoryView } from './data.ts'
import { SpeedLine } from './speed-line.ts'
import type { Look } from './speed-line.ts'

/** Removed readers would otherwise be retained forever. */
const MAX_READERS = 64

interface ReaderHistory extends Readonly<Record<HistoryRange, SpeedLine>> {
  readonly timeLeft: TimeLeft
}

/** Progress of the readers in the last minutes and the last day, and the begin of each problem, as this process has seen them. */
export class ProgressHistory {
  readonly #readers = new Map<string, ReaderHistory>()
  /** When each reason for not being healthy was first seen; numbers in it may change. */
  #problems: ReadonlyMap<string, number> = new Map()
  #lastLookMs: number | undefined

  /** Records everything that was seen, with what is wrong. */
  look({ database, readers }: HealthState, reasons: readonly string[], nowMs: number): void {
    if (database === 'up') this.note(readers, nowMs)
    this.#problems = new Map(
      reasons.map((reason) => [problemOf(reason), this.#problems.get(problemOf(reason)) ?? nowMs]),
    )
  }

  /** Since when this is a reason, ms since 1970; null when it was not seen yet. */
  since(reason: string): number | null {
    return this.#problems.get(problemOf(reason)) ?? null
  }

  /** Records the positions of the readers. */
  note(readers: readonly ReaderState[], nowMs: number): void {
    for (const reader of readers) {
      const history = this.#readers.get(reader.name) ?? this.#begin(reader)
      noteLook(history, {
        atMs: nowMs,
        block: reader.blockNum,
        head: reader.headBlock ?? reader.blockNum,
      })
    }
    this.#lastLookMs = nowMs
  }

  /** Blocks per second over time. */
  rates(reader: string, range: HistoryRange): HistoryView {
    return this.#readers.get(reader)?.[range].view() ?? { times: [], rates: [] }
  }

  /** Seconds until the reader reaches the moving head; null when that cannot be estimated. */
  secondsLeft(reader: string, lagBlocks: number): number | null {
    if (lagBlocks === 0) return 0
    const seconds = this.#readers.get(reader)?.timeLeft.seconds ?? null
    return seconds === null ? null : Math.round(seconds)
  }

  /** A reader that was not there at the last look has done all its blocks since. */
  #begin({ name, startBlock, headBlock, blockNum }: ReaderState): ReaderHistory {
    const history = {
      recent: new SpeedLine({ windowMs: 3_000, stalledMs: 20_000, missedMs: 10_000, retainedMs: 600_000 }),
      day: new SpeedLine({ windowMs: 60_000, stalledMs: 60_000, missedMs: 60_000, retainedMs: 86_400_000 }),
      timeLeft: new TimeLeft(),
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

function noteLook({ recent, day, timeLeft }: ReaderHistory, look: Look): void {
  recent.note(look)
  day.note(look)
  timeLeft.note(look.atMs, look.block, look.head)
}

/** A reason without its figures. */
function problemOf(reason: string): string {
  return reason.replaceAll(/\d+/g, '#')
}
