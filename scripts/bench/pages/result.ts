import { percentile } from '../report.ts'
import type { TouchedRelation } from './meter.ts'

/** A request and the pages it touched. */
export interface CountedRequest {
  readonly address: string
  readonly status: number
  /** Number of rows of the answer. */
  readonly rows: number
  readonly touched: readonly TouchedRelation[]
}

/** Pages of a kind of request on one database. */
export interface KindPages {
  readonly name: string
  /** Mean number of rows of an answer. */
  readonly rows: number
  /** Mean number of pages that a request touches. */
  readonly mean: number
  readonly p50: number
  readonly p95: number
  /** Share of the requests that touch more pages than the budget allows. */
  readonly above: number
  /** Number of answers with a status other than 200. */
  readonly failures: number
  /** Mean number of pages by relation and access, most pages first. */
  readonly relations: Readonly<Record<string, number>>
  /** Request with the most pages. */
  readonly worst: string
}

/**
 * Number of pages that an answer should touch at most, whatever the size of the database: a constant for the paths
 * through the indexes, and some pages for each row.
 */
export const budget = { constant: 100, perRow: 4 } as const
/** A kind of request is above the budget if more than this share of its requests is above the budget. */
const MOST_ABOVE = 0.1

/** Computes the mean and percentiles of the pages that the requests of a kind touch. */
export function pagesOf(name: string, requests: readonly CountedRequest[]): KindPages {
  const totals = requests.map(({ touched }) => totalOf(touched))
  const mean = (numbers: readonly number[]): number =>
    round(numbers.reduce((sum, number) => sum + number, 0) / numbers.length)
  const relations = new Map<string, number>()
  for (const { relation, access, pages } of requests.flatMap(({ touched }) => touched)) {
    const key = `${relation} ${access}`
    relations.set(key, (relations.get(key) ?? 0) + pages / requests.length)
  }
  const most = totals.indexOf(Math.max(...totals))
  const above = requests.filter(({ rows }, at) => totals[at]! > budget.constant + budget.perRow * rows).length
  return {
    name,
    rows: mean(requests.map(({ rows }) => rows)),
    mean: mean(totals),
    p50: percentile(totals, 0.5),
    p95: percentile(totals, 0.95),
    above: above / requests.length,
    failures: requests.filter(({ status }) => status !== 200).length,
    relations: Object.fromEntries(
      [...relations].map(([key, pages]) => [key, round(pages)] as const).sort((a, b) => b[1] - a[1]),
    ),
    worst: requests[most]!.address,
  }
}

function totalOf(touched: readonly TouchedRelation[]): number {
  return touched.reduce((sum, { pages }) => sum + pages, 0)
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}

export function isAbove({ above }: KindPages): boolean {
  return above > MOST_ABOVE
}

/** Pages that each kind of request touches on one database. */
export interface SizePages {
  readonly factor: number
  readonly kinds: readonly KindPages[]
}

/** Header of the table with one row for each kind of request. */
export function headOf(factors: readonly number[]): string[] {
  const sizes = factors.map((factor) => `Factor ${factor}: rows; pages p50, p95`)
  return ['Kind of request', ...sizes, 'Exponent of pages', 'of rows', 'Above', 'Most pages']
}

/**
 * Table row of a kind of request.
 * @param sizes figures of this kind on each database, in the order of the factors, smallest first.
 */
export function cellsOf(sizes: readonly KindPages[], factors: readonly number[]): string[] {
  const last = sizes.at(-1)!
  const grown = (of: (kind: KindPages) => number): string => exponent(sizes.map(of), factors).toFixed(2)
  const where = Object.entries(last.relations).slice(0, 3)
  return [
    last.name + (last.failures === 0 ? '' : ` (${last.failures} failures)`),
    ...sizes.map(({ rows, p50, p95 }) => `${rows}; ${p50}, ${p95}`),
    grown(({ mean }) => mean),
    grown(({ rows }) => rows),
    isAbove(last) ? `${Math.round(last.above * 100)} %` : '',
    where.map(([relation, pages]) => `${relation} ${Math.round(pages)}`).join(', '),
  ]
}

/**
 * Exponent with which a quantity grows with the size of the database: the slope of the least-squares line through the
 * logarithms of size and quantity. 0: the quantity is constant. 1: the quantity is proportional to the size. NaN: there
 * is only one size.
 */
export function exponent(quantities: readonly number[], factors: readonly number[]): number {
  const x = factors.map(Math.log)
  const y = quantities.map((quantity) => Math.log(Math.max(quantity, 1)))
  const middle = (logs: readonly number[]): number => logs.reduce((sum, log) => sum + log, 0) / logs.length
  const [middleX, middleY] = [middle(x), middle(y)]
  const sum = (of: (at: number) => number): number => x.reduce((total, _, at) => total + of(at), 0)
  return sum((at) => (x[at]! - middleX) * (y[at]! - middleY)) / sum((at) => (x[at]! - middleX) ** 2)
}

/** Summary: number of kinds of request above the budget on each database. */
export function summaryOf(sizes: readonly SizePages[]): string {
  const { constant, perRow } = budget
  return [
    `above the budget (more than ${MOST_ABOVE * 100} % of the requests of a kind touch more than ${constant} + ${perRow} x rows pages):`,
    ...sizes.map(
      ({ factor, kinds }) => `factor ${factor}: ${kinds.filter(isAbove).length} of ${kinds.length} kinds`,
    ),
  ].join('\n')
}
