/** Times of requests as tables. */
import type { RequestCase } from './requests/index.ts'

/** What was measured of one case. */
export interface Measurement {
  readonly request: RequestCase
  /** Far out instead of the first page. */
  readonly isDeep: boolean
  readonly status: number
  /** Milliseconds of each request. */
  readonly times: readonly number[]
  readonly path: string
}

/** The value that a share of the numbers does not exceed. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? NaN
}

interface Cell {
  readonly name: string
  readonly measurements: Measurement[]
}

/** Collects measurements and prints them by endpoint and sort. */
export class Report {
  readonly #all: Measurement[] = []
  readonly #limitMs: number

  /** @param limitMs longest that a first page may take at p95. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  add(measurement: Measurement): void {
    this.#all.push(measurement)
  }

  /** One row for each endpoint, sort and order; the `worst` slowest filters of each. */
  markdown(worst: number): string {
    const rows = groups(this.#all, ({ request, isDeep }) =>
      [request.endpoint.path, request.sort, request.order, isDeep ? 'page 1000' : ''].join(' | '),
    ).map(({ name, measurements }) => {
      const cells = groups(measurements, ({ request }) => request.filter)
        .map((cell) => ({ cell, p95: p95Of(cell) }))
        .sort((a, b) => b.p95 - a.p95)
      const times = measurements.flatMap((each) => each.times)
      const slow = cells.slice(0, worst).map(({ cell, p95 }) => `${cell.name || 'no filter'} ${ms(p95)}`)
      const overall = `${ms(percentile(times, 0.5))} | ${ms(percentile(times, 0.95))}`
      return `| ${name} | ${measurements.length} | ${overall} | ${slow.join(', ')} |`
    })
    return [
      '| Route | Sort | Order | Page | Kinds | p50 ms | p95 ms | Slowest filter, p95 ms |',
      '| --- | --- | --- | --- | --- | --- | --- | --- |',
      ...rows,
      '',
      this.#slowLines(),
      this.#failures(),
    ].join('\n')
  }

  /** How many kinds of request were measured, and how many of their first pages are above the limit. */
  summary(): string {
    const first = this.#all.filter(({ isDeep }) => !isDeep)
    const failed = this.#all.filter(isFailure).length
    return `${first.length} kinds of request, ${this.#slow().length} over ${this.#limitMs} ms at p95, ${failed} failed`
  }

  /** First pages above the limit, the slowest first. */
  #slow(): (Measurement & { p95: number })[] {
    return this.#all
      .filter(({ isDeep }) => !isDeep)
      .map((each) => ({ ...each, p95: percentile(each.times, 0.95) }))
      .filter(({ p95 }) => p95 > this.#limitMs)
      .sort((a, b) => b.p95 - a.p95)
  }

  #slowLines(): string {
    const slow = this.#slow()
    const lines = slow.map(
      ({ path, request, times, p95 }) =>
        `- ${ms(p95)} ms, p50 ${ms(percentile(times, 0.5))} (${request.kind}) ${path}`,
    )
    return [`${slow.length} kinds of request take more than ${this.#limitMs} ms at p95`, ...lines].join('\n')
  }

  #failures(): string {
    const failed = this.#all.filter(isFailure)
    return failed.map(({ path, status }) => `- status ${status}: ${path}`).join('\n')
  }
}

function isFailure({ status }: Measurement): boolean {
  return status >= 500 || status === 408
}

function groups(measurements: readonly Measurement[], nameOf: (each: Measurement) => string): Cell[] {
  const cells = new Map<string, Measurement[]>()
  for (const each of measurements) {
    const cell = cells.get(nameOf(each))
    if (cell) cell.push(each)
    else cells.set(nameOf(each), [each])
  }
  return [...cells].map(([name, all]) => ({ name, measurements: all }))
}

function p95Of({ measurements }: Cell): number {
  return percentile(
    measurements.flatMap(({ times }) => times),
    0.95,
  )
}

function ms(time: number): string {
  return time.toFixed(1)
}
