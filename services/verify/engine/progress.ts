import type { VerifyProgress } from './report.ts'

const TOLD_EVERY_MS = 200

/** Counts compared rows and tells how far it is, at most a few times a second. */
export class ProgressMeter {
  at = ''
  #rows = 0
  #told = 0
  readonly #started = performance.now()
  readonly #of: number
  readonly #tell: ((progress: VerifyProgress) => void) | undefined

  constructor(of: number, tell: ((progress: VerifyProgress) => void) | undefined) {
    this.#of = of
    this.#tell = tell
  }

  /** Notes that something else is being compared. */
  begin(at: string): void {
    this.at = at
    this.#told = 0
    this.add(0)
  }

  add(rows: number): void {
    this.#rows += rows
    const now = performance.now()
    if (this.#tell === undefined || now - this.#told < TOLD_EVERY_MS) return
    this.#told = now
    const rate = this.#rows / Math.max(0.001, (now - this.#started) / 1_000)
    const left = Math.max(0, this.#of - this.#rows)
    this.#tell({
      at: this.at,
      rows: this.#rows,
      of: Math.max(this.#of, this.#rows),
      rowsPerSecond: rate,
      secondsLeft: this.#of === 0 || this.#rows === 0 ? null : left / rate,
    })
  }
}
