import type { HistoryView } from './data.ts'

/** Position of a reader and head of the chain at one time. */
export interface Look {
  readonly atMs: number
  readonly block: number
  readonly head: number
}

/** Time constants of a speed history (`SpeedLine`). */
export interface SpeedLineSettings {
  /** Minimum time over which a rate is averaged, ms. */
  readonly windowMs: number
  /** A reader whose position has not changed for this time has rate 0, ms. */
  readonly stalledMs: number
  /**
   * If two consecutive observations of the reader's position are further apart than this time, ms, the rate between
   * them is unknown.
   */
  readonly missedMs: number
  /** A rate, in blocks per second, is dropped after this time, ms. */
  readonly retainedMs: number
}

interface Point {
  readonly atMs: number
  readonly rate: number | null
}

/**
 * Speed of one reader over time. The position of a reader changes with its commits, which may be seconds apart. Each
 * rate is therefore measured between two changes of the position; rates over fixed intervals would show bursts and
 * pauses. A rollback counts as rate 0.
 */
export class SpeedLine {
  readonly #settings: SpeedLineSettings
  readonly #points: Point[] = []
  #from: Look | undefined
  #last: Look | undefined

  constructor(settings: SpeedLineSettings) {
    this.#settings = settings
  }

  /** Adds an observation of the reader's position. The observations must be in time order. */
  note(look: Look): void {
    const { windowMs, stalledMs, missedMs } = this.#settings
    const isFirst = this.#last === undefined || look.atMs - this.#last.atMs > missedMs
    this.#last = look
    if (isFirst || !this.#from) {
      this.#from = look
      this.#add({ atMs: look.atMs, rate: null })
      return
    }
    const ms = look.atMs - this.#from.atMs
    if (ms < (look.block === this.#from.block ? stalledMs : this.#isBegun() ? windowMs : 1)) return
    const rate = Math.max(0, look.block - this.#from.block) / (ms / 1_000)
    this.#add({ atMs: look.atMs, rate: Math.round(rate * 10) / 10 })
    this.#from = look
  }

  view(): HistoryView {
    return {
      times: this.#points.map(({ atMs }) => Math.round(atMs / 1_000)),
      rates: this.#points.map(({ rate }) => rate),
    }
  }

  /**
   * Whether the last point has a known rate. After an unknown rate, the next rate is not averaged over `windowMs`, so
   * that the rate appears at once.
   */
  #isBegun(): boolean {
    return this.#points.at(-1)?.rate !== null
  }

  #add(point: Point): void {
    this.#points.push(point)
    while (point.atMs - this.#points[0]!.atMs > this.#settings.retainedMs) this.#points.shift()
  }
}
