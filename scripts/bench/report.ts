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

/** Longest first page, in ms. */
const LIMIT_MS = 50

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
      this.#slow(),
      this.#failures(),
    ].join('\n')
  }

  /** Every case above the limit. */
  #slow(): string {
    const slow = this.#all
      .filter(({ isDeep }) => !isDeep)
      .map((each) => ({ ...each, p95: percentile(each.times, 0.95) }))
      .filter(({ p95 }) => p95 > LIMIT_MS)
      .sort((a, b) => b.p95 - a.p95)
    const lines = slow.map(({ path, request, p95 }) => `- ${ms(p95)} ms (${request.kind}) ${path}`)
    return `${slow.length} of ${this.#all.length} kinds of request take more than ${LIMIT_MS} ms at p95\n${lines.join('\n')}`
  }

  #failures(): string {
    const failed = this.#all.filter(({ status }) => status >= 500 || status === 408)
    return failed.map(({ path, status }) => `- status ${status}: ${path}`).join('\n')
  }
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
