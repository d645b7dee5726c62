import type { VerifyProgress } from './report.ts'

const REPORT_EVERY_MS = 200

/** Counts compared rows and reports progress, at most a few times a second. */
export class ProgressMeter {
  at = ''
  #rows = 0
  #reportedMs = 0
  readonly #started = performance.now()
  readonly #of: number
  readonly #report: ((progress: VerifyProgress) => void) | undefined

  constructor(of: number, report: ((progress: VerifyProgress) => void) | undefined) {
    this.#of = of
    this.#report = report
  }

  /** Sets the table or rule that is being compared. */
  begin(at: string): void {
    this.at = at
    this.#reportedMs = 0
    this.add(0)
  }

  add(rows: number): void {
    this.#rows += rows
    const now = performance.now()
    if (this.#report === undefined || now - this.#reportedMs < REPORT_EVERY_MS) return
    this.#reportedMs = now
    const rate = this.#rows / Math.max(0.001, (now - this.#started) / 1_000)
    const left = Math.max(0, this.#of - this.#rows)
    this.#report({
      at: this.at,
      rows: this.#rows,
      of: Math.max(this.#of, this.#rows),
      rowsPerSecond: rate,
      secondsLeft: this.#of === 0 || this.#rows === 0 ? null : left / rate,
    })
  }
}
