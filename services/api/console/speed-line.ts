import type { HistoryView } from './data.ts'

/** Position of a reader at a time. */
export interface Look {
  readonly atMs: number
  readonly block: number
  readonly head: number
}

/** Options of a series of rates. */
export interface SpeedLineSettings {
  /** A speed is taken over at least so much time. */
  readonly windowMs: number
  /** A reader that has not moved for so long has no speed. */
  readonly stalledMs: number
  /** What happened between two looks that are further apart is not known. */
  readonly missedMs: number
  readonly retainedMs: number
}

interface Point {
  readonly atMs: number
  readonly rate: number | null
}

/**
 * The speed of one reader over time. A reader moves with its commits, which may be seconds apart: a speed is that
 * between two moves, so that commits do not show as bursts with nothing between. A rollback counts as no speed.
 */
export class SpeedLine {
  readonly #settings: SpeedLineSettings
  readonly #points: Point[] = []
  #from: Look | undefined
  #last: Look | undefined

  constructor(settings: SpeedLineSettings) {
    this.#settings = settings
  }

  /** Adds a position; times must increase. */
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

  /** The first rate is returned as soon as there is one. */
  #isBegun(): boolean {
    return this.#points.at(-1)?.rate !== null
  }

  #add(point: Point): void {
    this.#points.push(point)
    while (point.atMs - this.#points[0]!.atMs > this.#settings.retainedMs) this.#points.shift()
  }
}
