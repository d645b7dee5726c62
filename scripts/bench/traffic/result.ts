import { percentile } from '../report.ts'

/** One answer. */
export interface Sample {
  readonly address: string
  readonly status: number
  readonly bytes: number
  readonly ms: number
}

/** What was measured of a kind; times in ms. */
export interface KindResult {
  readonly name: string
  readonly p50: number
  readonly p95: number
  readonly max: number
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>
  readonly slowest: Sample
  /** An answer that was no success, where there was one. */
  readonly failed?: Sample
}

/** Longest times of a kind, in ms. */
export const limits = { p50: 15, p95: 50, worstP95: 250 } as const

/** @throws RangeError without samples. */
export function resultOf(name: string, samples: readonly Sample[]): KindResult {
  const [first] = samples
  if (!first) throw new RangeError(`${name}: no samples`)
  const times = samples.map(({ ms }) => ms)
  const statuses: Record<string, number> = {}
  for (const { status } of samples) statuses[status] = (statuses[status] ?? 0) + 1
  const failed = samples.find(({ status }) => status !== 200)
  return {
    name,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    max: Math.max(...times),
    statuses,
    slowest: samples.reduce((slowest, sample) => (sample.ms > slowest.ms ? sample : slowest), first),
    ...(failed ? { failed } : {}),
  }
}

/** A row of the table of kinds. */
export function tableLine({ name, p50, p95, max, statuses }: KindResult): string {
  const answers = Object.entries(statuses)
    .map(([status, count]) => `${count} x ${status}`)
    .join(', ')
  return `| ${name} | ${p50.toFixed(1)} | ${p95.toFixed(1)} | ${max.toFixed(1)} | ${answers} |`
}

/** How many kinds are over each limit, and how the kinds are spread. */
export function summaryOf(results: readonly KindResult[]): string {
  const over = (isOver: (result: KindResult) => boolean): string => {
    const kinds = results.filter(isOver)
    return kinds.length === 0 ? 'none' : `${kinds.length} of ${results.length}`
  }
  const spread = (of: 'p50' | 'p95'): string =>
    percentile(
      results.map((result) => result[of]),
      0.5,
    ).toFixed(1)
  return [
    `kinds over ${limits.p95} ms at p95: ${over(({ p95 }) => p95 > limits.p95)}`,
    `over ${limits.p50} ms at p50: ${over(({ p50 }) => p50 > limits.p50)}`,
    `over either: ${over(({ p50, p95 }) => p50 > limits.p50 || p95 > limits.p95)}`,
    `over ${limits.worstP95} ms at p95: ${over(({ p95 }) => p95 > limits.worstP95)}`,
    `with other statuses than 200: ${over(({ failed }) => failed !== undefined)}`,
    `median of the kinds' p50 ${spread('p50')} ms, of their p95 ${spread('p95')} ms`,
  ].join('; ')
}
