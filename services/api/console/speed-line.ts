import type { HistoryView } from './data.ts'

/** Block number of a reader, and the head, at a time. */
export interface Look {
  readonly atMs: number
  readonly block: number
  readonly head: number
}

/** Time constants of a `SpeedLine`. */
export interface SpeedLineSettings {
  /** A speed is averaged over at least this time. */
  readonly windowMs: number
  /** A reader that has not moved for this time has speed 0. */
  readonly stalledMs: number
  /** If two observations are further apart, the speed between them is unknown. */
  readonly missedMs: number
  readonly retainedMs: number
}

interface Point {
  readonly atMs: number
  readonly rate: number | null
}

/**
 * The speed of one reader over time. A reader moves with its commits, which may be seconds apart. The speed is
 * measured between two moves, so that commits do not show as bursts with pauses between. A rollback counts as speed 0.
 */
export class SpeedLine {
  readonly #settings: SpeedLineSettings
  readonly #points: Point[] = []
  #from: Look | undefined
  #last: Look | undefined

  constructor(settings: SpeedLineSettings) {
    this.#settings = settings
  }

  /** Adds an observation; times must increase. */
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

  /** Whether a rate exists since the last gap. The first rate after a gap does not wait for `windowMs`. */
  #isBegun(): boolean {
    return this.#points.at(-1)?.rate !== null
  }

  #add(point: Point): void {
    this.#points.push(point)
    while (point.atMs - this.#points[0]!.atMs > this.#settings.retainedMs) this.#points.shift()
  }
}
