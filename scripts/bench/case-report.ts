/** Tables of the measured request times. */
import { markdownTable, percentile } from './report.ts'
import type { RequestCase } from './requests/index.ts'

/** Measured times of one case. */
export interface Measurement {
  readonly request: RequestCase
  /** Whether page 1,000 was measured instead of the first page. */
  readonly isDeep: boolean
  readonly status: number
  /** Time of each request, ms. */
  readonly times: readonly number[]
  readonly path: string
}

/** Time limits for a first page, ms: LIST_MS for lists, SUMS_MS for prices and statistics. */
const LIST_MS = 50
const SUMS_MS = 100

/** Time limit of a request, ms. */
export function limitOf({ endpoint }: RequestCase): number {
  return endpoint.tag === 'stats' || endpoint.tag === 'prices' ? SUMS_MS : LIST_MS
}

/** Group in which the summary counts a request. */
function kindOf({ endpoint }: RequestCase): string {
  if (endpoint.path.endsWith('/_count')) return 'counts'
  if (endpoint.tag === 'stats' || endpoint.tag === 'prices') return 'prices and statistics'
  return 'limit' in endpoint.parameters ? 'lists' : 'details'
}

/** Separator of path, sort, order and page in the text that identifies a row of the printed table. */
const SEPARATOR = ' | '

interface Cell {
  readonly name: string
  readonly measurements: Measurement[]
}

/** Collects measurements and prints them by endpoint and sort. */
export class CaseReport {
  #all: Measurement[] = []

  add(measurement: Measurement): void {
    this.#all.push(measurement)
  }

  /** List and detail requests whose first page exceeds its time limit; counts are left out. */
  slowPages(): readonly RequestCase[] {
    const slow = this.#slow().filter(({ request }) => kindOf(request) !== 'counts')
    return slow.map(({ request }) => request)
  }

  /** Removes the measurement of a request's first page, before it is measured again. */
  forget(again: RequestCase): void {
    this.#all = this.#all.filter(({ request, isDeep }) => isDeep || request !== again)
  }

  /** Markdown table with a row per endpoint, sort and order, each with its `worst` slowest filters. */
  markdown(worst: number): string {
    const rows = groups(this.#all, ({ request, isDeep }) =>
      [request.endpoint.path, request.sort, request.order, isDeep ? 'page 1000' : ''].join(SEPARATOR),
    ).map(({ name, measurements }) => {
      const cells = groups(measurements, ({ request }) => request.filter)
        .map((cell) => ({ cell, p95: p95Of(cell) }))
        .sort((a, b) => b.p95 - a.p95)
      const times = measurements.flatMap((each) => each.times)
      const slow = cells.slice(0, worst).map(({ cell, p95 }) => `${cell.name || 'no filter'} ${ms(p95)}`)
      const overall = [ms(percentile(times, 0.5)), ms(percentile(times, 0.95))]
      return [...name.split(SEPARATOR), measurements.length, ...overall, slow.join(', ')]
    })
    const head = ['Route', 'Sort', 'Order', 'Page', 'Kinds', 'p50 ms', 'p95 ms', 'Slowest filter, p95 ms']
    return [markdownTable(head, rows), '', this.#slowLines(), this.#failures()].join('\n')
  }

  /** Summary line: number of measured requests, and of first pages above their time limit. */
  summary(): string {
    const first = this.#all.filter(({ isDeep }) => !isDeep)
    const failed = this.#all.filter(isFailure).length
    const slow = groups(this.#slow(), ({ request }) => kindOf(request)).map(
      ({ name, measurements }) => `${measurements.length} ${name}`,
    )
    const over = slow.length === 0 ? 'none' : slow.join(', ')
    return `${first.length} kinds of request; p95 above the time limit (${LIST_MS} ms, prices and statistics ${SUMS_MS} ms): ${over}; ${failed} measurements failed`
  }

  /** Cases whose median time exceeds the given share of their time limit. */
  nearLimit(share: number): Set<RequestCase> {
    const near = this.#all.filter(({ request, times }) => percentile(times, 0.5) > share * limitOf(request))
    return new Set(near.map(({ request }) => request))
  }

  /** First pages above their time limit, slowest first. */
  #slow(): (Measurement & { p95: number })[] {
    return this.#all
      .filter(({ isDeep }) => !isDeep)
      .map((each) => ({ ...each, p95: percentile(each.times, 0.95) }))
      .filter(({ request, p95 }) => p95 > limitOf(request))
      .sort((a, b) => b.p95 - a.p95)
  }

  #slowLines(): string {
    const slow = this.#slow()
    const lines = slow.map(
      ({ path, request, times, p95 }) =>
        `- ${ms(p95)} ms, p50 ${ms(percentile(times, 0.5))} (${request.kind}) ${path}`,
    )
    return [`${slow.length} kinds of request have a p95 above their time limit`, ...lines].join('\n')
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
  return [...cells]
    .map(([name, all]) => ({ name, measurements: all }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
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
