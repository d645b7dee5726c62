import { median, percentile } from '../report.ts'

/** Measurements of one request. */
export interface Sample {
  readonly address: string
  readonly status: number
  readonly bytes: number
  readonly ms: number
  /** Processor time of the API and its database sessions, ms. */
  readonly workMs: number
  /** Pages that the server read from the disk; undefined unless its memory is limited. */
  readonly pagesRead?: number | undefined
}

/** Median and 95th percentile of a measured quantity. */
interface Percentiles {
  readonly p50: number
  readonly p95: number
}

/** Results of a kind of request; times in ms. */
export interface KindResult extends Percentiles {
  readonly name: string
  readonly max: number
  /** Processor time, which hardly depends on other load of the machine. */
  readonly work: Percentiles
  /** Pages read from the disk, if the memory of the server is limited. */
  readonly pagesRead?: Percentiles & { readonly mean: number }
  /** Number of answers with each HTTP status. */
  readonly statuses: Readonly<Record<string, number>>
  readonly slowest: Sample
  /** One failed request, if there was any. */
  readonly failed?: Sample
}

/** Time limits of a kind of request, ms. */
const limits = { p50: 15, p95: 50, worstP95: 250 } as const

/**
 * Computes the results of a kind of request.
 * @throws RangeError if `samples` is empty.
 */
export function resultOf(name: string, samples: readonly Sample[]): KindResult {
  const [first] = samples
  if (!first) throw new RangeError(`${name}: no samples`)
  const times = samples.map(({ ms }) => ms)
  const statuses: Record<string, number> = {}
  for (const { status } of samples) statuses[status] = (statuses[status] ?? 0) + 1
  const failed = samples.find(({ status }) => status !== 200)
  const pages = samples.flatMap(({ pagesRead }) => pagesRead ?? [])
  const mean = pages.reduce((sum, each) => sum + each, 0) / pages.length
  return {
    name,
    ...percentilesOf(times),
    work: percentilesOf(samples.map(({ workMs }) => workMs)),
    ...(pages.length === 0 ? {} : { pagesRead: { mean, ...percentilesOf(pages) } }),
    max: Math.max(...times),
    statuses,
    slowest: samples.reduce((slowest, sample) => (sample.ms > slowest.ms ? sample : slowest), first),
    ...(failed ? { failed } : {}),
  }
}

function percentilesOf(numbers: readonly number[]): Percentiles {
  return { p50: percentile(numbers, 0.5), p95: percentile(numbers, 0.95) }
}

/** Header of the table with one row for each kind of request. */
export const resultHead: readonly string[] = [
  ...['Kind of request', 'p50 ms', 'p95 ms', 'Longest', 'p50 of processor time', 'p95 of processor time'],
  ...['Pages from the disk: mean', 'p50', 'p95', 'Answers'],
]

/** Table row of a kind of request. */
export function cellsOf({ name, p50, p95, max, work, pagesRead, statuses }: KindResult): string[] {
  const answers = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`)
  const times = [p50, p95, max, work.p50, work.p95].map((ms) => ms.toFixed(1))
  const pages = pagesRead ? [pagesRead.mean, pagesRead.p50, pagesRead.p95].map(Math.round) : ['', '', '']
  return [name, ...times, ...pages.map(String), answers.join(', ')]
}

/** Summary: number of kinds of request above each time limit, by elapsed and by processor time, and percentiles. */
export function summaryOf(results: readonly KindResult[]): string {
  const failed = results.filter((result) => result.failed !== undefined).length
  const pages = results.flatMap(({ pagesRead }) => pagesRead ?? [])
  return [
    `${results.length} kinds of request; ${failed} kinds had a status other than 200`,
    `by elapsed time: ${spreadOf(results)}`,
    `by processor time: ${spreadOf(results.map(({ work }) => work))}`,
    ...(pages.length === 0 ? [] : [`pages read from the disk: ${readsOf(pages)}`]),
  ].join('\n')
}

function readsOf(kinds: readonly { readonly mean: number; readonly p95: number }[]): string {
  const mean = kinds.reduce((sum, kind) => sum + kind.mean, 0) / kinds.length
  return `${mean.toFixed(1)} pages on average; nine of ten kinds have a p95 of at most ${mostOf(kinds).toFixed(0)} pages`
}

/** 90th percentile of the p95 values: nine of ten kinds of request have at most this p95. */
function mostOf(kinds: readonly { readonly p95: number }[]): number {
  const all = kinds.map(({ p95 }) => p95)
  return percentile(all, 0.9)
}

function spreadOf(kinds: readonly Percentiles[]): string {
  const over = (isOver: (kind: Percentiles) => boolean): number => kinds.filter(isOver).length
  const middle = (of: 'p50' | 'p95'): string => median(kinds.map((kind) => kind[of])).toFixed(1)
  return [
    `${over(({ p95 }) => p95 > limits.p95)} kinds have a p95 over ${limits.p95} ms`,
    `${over(({ p50 }) => p50 > limits.p50)} kinds have a p50 over ${limits.p50} ms`,
    `${over(({ p50, p95 }) => p50 > limits.p50 || p95 > limits.p95)} kinds are over at least one of these two limits`,
    `${over(({ p95 }) => p95 > limits.worstP95)} kinds have a p95 over ${limits.worstP95} ms`,
    `nine of ten kinds have a p95 of at most ${mostOf(kinds).toFixed(1)} ms`,
    `median over all kinds: p50 ${middle('p50')} ms, p95 ${middle('p95')} ms`,
  ].join('; ')
}
