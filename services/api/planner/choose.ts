import { raw } from '../sql/index.ts'
import type { Sql, SqlValue } from '../sql/index.ts'
import type { AccessPath, ListRequest, ScanPath, SegmentScan } from './access-path.ts'
import type { EqualValues, Filter } from './filters/index.ts'
import { BITMAP_COST, HEAP_COST, INDEX_COST, NEIGHBOUR_COST } from './costs/index.ts'
import { asFound, estimateRows, isOneValue, isWithin, withoutImplied } from './filters/index.ts'
import type { Segment, DrivingTable, Index } from './sources/index.ts'

/*
 * The comments of the planner's constants state how another value of the constant changes the number of pages that
 * requests read (`blks_hit` + `blks_read` of pg_stat_database). Measured 2026-11-29: 8 requests of each kind of
 * `traffic.js` on 1,000,000 generated assets. Two runs with equal values differ by 0.03 %. "The same number of pages"
 * means a difference of at most 0.5 %.
 */

/**
 * Start-up cost of one index range: the descent of the index, three or four pages. Above MERGED_RANGES each range is
 * probed twice in a lateral join: MANY_RANGE_COST. With higher costs, lists are collected and sorted although a merge
 * reads less. With lower costs, thousands of nearly empty ranges are merged. Half and twice either cost read the same
 * number of pages.
 */
const RANGE_COST = 12
const MANY_RANGE_COST = 100
/**
 * Cost of one row of the driving table: read by an index and sorted. Half of HEAP_COST, because the driving table has
 * few rows, which are in memory. With the value 1, the statements read the same number of pages, with 4 0.6 % more.
 */
const DRIVING_ROW_COST = 2
/**
 * Maximum number of index ranges of a scan. If an index would need more ranges, the planner does not use the index for
 * the order. The maximum limits the number of parameter values of a statement, and the number of ranges that the
 * statement looks up before it reads rows. With 512 or 32,768, the statements read the same number of pages.
 */
const MAX_RANGES = 4_096
/**
 * Give up an index scan after BUDGET_FACTOR x its estimated rows, clamped to MIN_BUDGET..MAX_BUDGET, and plan again.
 * - A larger budget wastes more rows on a wrong estimate. A smaller budget plans a second time where the first scan
 *   would have succeeded.
 * - MIN_BUDGET rows cost less than a second statement.
 * - MAX_BUDGET limits the cost of a wrong estimate. Only twice the estimate and SHARE_OF_COLLECTING may exceed
 *   MAX_BUDGET.
 * - A factor of 2 reads the same number of pages and 3.3 % more rows. A factor of 8 reads 3.6 % more pages.
 * - A minimum of 128 or 2,048 reads the same number of pages.
 * - A maximum of 5,000 or 80,000 reads 1.4 % more pages.
 */
const BUDGET_FACTOR = 4
const MIN_BUDGET = 512
const MAX_BUDGET = 20_000
/**
 * Budget multiplier per range when there are many: matches are spread unevenly over the ranges, so in most lists one
 * range needs more than an equal share. 1 and 16 read the same number of pages.
 */
const SKEW = 4
/**
 * If the segments with lower ranks have at least SURE x the rows of the page by estimate, they are assumed to fill the
 * page, and a segment with a higher rank costs nothing. A lower factor omits the cost of segments that are in fact
 * read. A higher factor adds the cost of segments that are not read. 1 and 16 read the same number of pages.
 */
const SURE = 4
/**
 * The row budget of an index scan costs at least this share of collecting and sorting: a smaller budget would save
 * little if the scan is given up. 0.0625 reads the same number of pages, 1 reads 3.2 % more.
 */
const SHARE_OF_COLLECTING = 0.25

/**
 * Accept an index scan up to SAME_ROWS x the cost of collecting and sorting if the scan can read at most as many rows as
 * collecting reads: popular values have more rows than the average that the estimate assumes. The rule does not apply
 * after a scan ran out of its budget. With the value 1, the statements read the same number of pages, with 4 0.7 %
 * fewer.
 */
const SAME_ROWS = 2

interface Candidate {
  readonly scans: readonly SegmentScan[]
  /** Estimated rows that the scans read. */
  readonly expected: number
  /** Estimated rows that the scans read if the page never fills. */
  readonly most: number
  readonly cost: number
}

/**
 * Chooses the access path with the lowest estimated cost, and states the reason. Pure: the same request always gives
 * the same path.
 */
export function choosePath(request: ListRequest): AccessPath {
  const collecting = collectingCost(request)
  const candidate = cheapestScan(request)
  const matches = Math.round(estimateRows(request.rows, request.filters))
  const about = `about ${matches} of ${Math.round(request.rows)} rows match`
  const isOfSameRows = collecting && candidate && !request.seen && candidate.most <= collecting.expected
  if (!candidate || (collecting && collecting.cost * (isOfSameRows ? SAME_ROWS : 1) < candidate.cost)) {
    const other = candidate
      ? `; an index scan would read ${Math.round(candidate.expected)} rows`
      : '; no index has this order'
    const whole = { cost: Infinity, by: 'reading the table', expected: request.rows }
    const { cost: _, by, ...found }: Collecting = collecting ?? whole
    return { kind: 'collect', ...found, reason: `${about}, found by ${by}${other}` }
  }
  const ranges = candidate.scans.reduce((sum, each) => sum + each.ranges, 0)
  return {
    kind: ranges > 1 ? 'merge' : 'scan',
    scans: candidate.scans,
    budget: isChecked(candidate) ? budgetOf(candidate, collecting?.cost, request) : undefined,
    expected: candidate.expected,
    most: candidate.most,
    reason: `${about}, an index scan of ${ranges} ${ranges === 1 ? 'range' : 'ranges'} is estimated to read ${Math.round(candidate.expected)} rows${
      collecting
        ? `; collecting by ${collecting.by} costs ${Math.round(collecting.cost)}, the scan ${Math.round(candidate.cost)}`
        : ''
    }`,
  }
}

function budgetOf(
  candidate: Candidate,
  collectingCost: number | undefined,
  { seen }: ListRequest,
): number | undefined {
  // A previous scan exceeded its row budget, and no cheaper path is left: the scan of the new plan is unlimited.
  if (seen) return undefined
  // A budget has two uses: to switch from the scan to collecting and sorting, and to limit the rows of a driving table.
  // If neither use is possible, the scan gets no budget.
  if (collectingCost === undefined && !candidate.scans.some(({ driving }) => driving)) return undefined
  const beforeRows = candidate.scans.reduce((sum, { driving }) => sum + costOfDrivingRows(driving), 0)
  const rowCost = Math.max(HEAP_COST, (candidate.cost - beforeRows) / Math.max(1, candidate.expected))
  // Rows that MAX_BUDGET allows: fewer if rows are expensive to check, but never fewer than twice the row estimate.
  const most = Math.max((MAX_BUDGET * HEAP_COST) / rowCost, 2 * candidate.expected)
  const rows = Math.max(
    Math.min(most, Math.max(MIN_BUDGET, BUDGET_FACTOR * candidate.expected)),
    (SHARE_OF_COLLECTING * (collectingCost ?? 0)) / rowCost,
  )
  const streams = streamsOf(candidate.scans)
  const each = (rows / streams) * (isOneStream(streams) ? 1 : SKEW)
  // The budget is rounded up to a power of two. Fewer different budgets mean fewer different statements, so that
  // connections can prepare the statements.
  return 2 ** Math.ceil(Math.log2(Math.max(1, each)))
}

/** Whether the scans may read rows that are not on the page: rows that a filter rejects. */
export function isChecked({ scans }: Pick<ScanPath, 'scans'>): boolean {
  return scans.some(({ checks }) => checks.length > 0)
}

/** Number of ordered streams that the scans read. The row budget applies to each stream. */
export function streamsOf(scans: readonly SegmentScan[]): number {
  return scans.reduce((sum, { ranges }) => sum + (isOneStream(ranges) ? 1 : ranges), 0)
}

interface Collecting {
  readonly cost: number
  readonly expected: number
  readonly by: string
  readonly through?: Filter
  readonly scanned?: readonly Filter[]
}

/**
 * Cheapest path that collects all matching rows, by indexes or via another table. Undefined if no filter has an index
 * or another table that finds its rows.
 */
function collectingCost(request: ListRequest): Collecting | undefined {
  const { rows, filters, order } = request
  // A statement reads the rows from one FROM item: that of the sort order, or that of the filter's other table
  // (`Through.from`). If the sort order needs its own FROM item, no other table finds the rows.
  const through = order.sorted?.from ? undefined : throughCost(rows, filters)
  return cheapest([indexedCost(rows, filters), through, ...coveredCosts(request)])
}

/**
 * Costs of collecting all matching rows by an index-only scan: one cost for each usable index. A usable index has all
 * rows, the key, the sort column and all columns of the filters. At least its first column is compared with a single
 * value.
 */
function coveredCosts({ source, rows, filters, order }: ListRequest): Collecting[] {
  const [segment, ...others] = order.segments
  if (!segment || others.length > 0 || order.sorted || segment.expression || segment.value) return []
  return source.indexes.flatMap(({ name, columns, includes = [], only }) => {
    if (only) return []
    const has = new Set([...columns, ...includes])
    const hasAll = has.has(source.key) && has.has(segment.column)
    if (!hasAll || !filters.every((filter) => isWithin(filter, has))) return []
    const scanned: Filter[] = []
    for (const column of columns) {
      const filter = filters.find(({ equals }) => equals?.column === column && isOneValue(equals))
      if (!filter) break
      scanned.push(filter)
    }
    if (scanned.length === 0) return []
    const rowCost = INDEX_COST + visitsOf(rows, filters, scanned)
    const cost = RANGE_COST + rowCost * estimateRows(rows, scanned)
    return [{ cost, expected: estimateRows(rows, filters), by: `${name} alone`, scanned }]
  })
}

function cheapest(ways: readonly (Collecting | undefined)[]): Collecting | undefined {
  return ways.reduce((a, b) => (a && b ? (b.cost < a.cost ? b : a) : (a ?? b)), undefined)
}

/**
 * Cost of collecting all matching rows by the indexes of the list's table. Combines indexes as long as the entries of
 * the next index cost less than the rows that the index excludes. The alternative is a single filter whose index
 * condition (`found`) searches other tables, if this filter alone costs less.
 */
function indexedCost(rows: number, filters: readonly Filter[]): Collecting | undefined {
  const indexed = filters.filter((each) => each.isIndexed && !each.through).sort((a, b) => a.rows - b.rows)
  const costOf = (some: readonly Filter[]): Collecting => {
    const left = estimateRows(rows, some)
    const finding = some.reduce((sum, each) => sum + (each.finding ?? 0), 0)
    const entries = some.length === 1 ? 0 : some.reduce((sum, each) => sum + each.rows, 0)
    const checked = visitsOf(
      rows,
      filters,
      some.filter((each) => each.finding !== undefined),
    )
    const cost = HEAP_COST * (finding + left) + BITMAP_COST * entries + checked * left
    return { cost, expected: left, by: some.map(({ name }) => name).join(', ') }
  }
  const plain = indexed.filter(({ finding }) => finding === undefined)
  let [best, used]: [Collecting | undefined, readonly Filter[]] = [undefined, []]
  for (const filter of plain) {
    const next = costOf([...used, filter])
    if (!best || next.cost < best.cost) [best, used] = [next, [...used, filter]]
  }
  const searched = indexed.filter(({ finding }) => finding !== undefined).map((filter) => costOf([filter]))
  return cheapest([best, ...searched])
}

/** Cost of finding and reading all rows that match the filters, in units of one visited row. */
export function findingCost(rows: number, filters: readonly Filter[]): number {
  return (indexedCost(rows, filters)?.cost ?? HEAP_COST * rows) / HEAP_COST
}

function throughCost(rows: number, filters: readonly Filter[]): Collecting | undefined {
  return filters
    .filter(({ isIndexed, through }) => isIndexed && through !== undefined)
    .map((filter) => ({
      cost:
        HEAP_COST * (filter.through!.visits + filter.rows) + visitsOf(rows, filters, [filter]) * filter.rows,
      expected: filter.rows,
      by: `${filter.name} (through another table)`,
      through: filter,
    }))
    .reduce<Collecting | undefined>((a, b) => (a && a.cost <= b.cost ? a : b), undefined)
}

/**
 * Lookup cost per row of the filters that the access path does not cover. They run last, on rows that passed the cheap
 * filters.
 */
function visitsOf(rows: number, filters: readonly Filter[], served: readonly Filter[]): number {
  const checks = filters.filter((filter) => !served.includes(filter))
  const visits = checks.reduce((sum, each) => sum + (each.visits ?? 0), 0)
  if (visits === 0) return 0
  const cheap = checks.filter((each) => !each.visits)
  return (HEAP_COST * visits * estimateRows(rows, cheap)) / Math.max(rows, 1)
}

/**
 * The filter whose other table (`Filter.through`) finds all matching rows for a count, if this is cheaper than indexes
 * and than a full scan.
 */
export function countedThrough(rows: number, filters: readonly Filter[]): Filter | undefined {
  const through = throughCost(rows, filters)
  const plain = indexedCost(rows, filters)?.cost ?? HEAP_COST * rows
  return through && through.cost < plain ? through.through : undefined
}

function cheapestScan(request: ListRequest): Candidate | undefined {
  const { rows, filters, order, window, seen } = request
  const matching = estimateRows(rows, filters)
  const scans: SegmentScan[] = []
  let cost = 0
  let expected = 0
  let most = 0
  for (const segment of order.segments) {
    const best = [scanOfSegment(request, segment), ...scansOfParts(request, segment)]
      .filter((each) => each !== undefined)
      .reduce<Candidate | undefined>((a, b) => (a && a.cost <= b.cost ? a : b), undefined)
    if (!best) return undefined
    scans.push(...best.scans)
    most += best.most
    const before = order.segments.filter(({ rank }) => rank < segment.rank)
    const first = matching * before.reduce((sum, { share = 1 }) => sum + share, 0)
    // A segment is read only if the segments with lower ranks do not fill the page.
    if (!seen && before.length > 0 && first >= SURE * (window.offset + window.limit)) continue
    cost += best.cost
    expected += best.expected
  }
  return { scans, cost, expected, most }
}

/**
 * The cheapest single scan of a segment. A filter that has disjoint parts (`Filter.parts`) is applied as a whole, not by
 * one scan for each part.
 */
function scanOfSegment(request: ListRequest, segment: Segment): Candidate | undefined {
  const driving = segment.driving ? [scanByDrivingTable(request, segment, segment.driving)] : []
  const best = [...driving, ...request.source.indexes.map((index) => scanByIndex(request, segment, index))]
    .filter((each) => each !== undefined)
    .reduce<Estimated | undefined>((a, b) => (a && a.cost <= b.cost ? a : b), undefined)
  return best && { ...best, scans: [best.scan] }
}

/**
 * Candidate access paths of a segment, one for each filter that has disjoint parts. A candidate scans the segment once
 * for each part of the filter.
 */
function scansOfParts(request: ListRequest, segment: Segment): (Candidate | undefined)[] {
  return request.filters.flatMap((filter) => {
    if (!filter.parts || segment.driving) return []
    const found = filter.parts.map((part) => {
      const filters = request.filters.map((each) => (each === filter ? part.filter : each))
      return scanOfSegment(
        { ...request, filters },
        part.apart ? withConditions(segment, part.apart) : segment,
      )
    })
    if (!found.every((each) => each !== undefined)) return []
    return [
      {
        scans: found.flatMap(({ scans }) => scans),
        cost: found.reduce((sum, { cost }) => sum + cost, 0),
        expected: found.reduce((sum, { expected }) => sum + expected, 0),
        most: found.reduce((sum, { most }) => sum + most, 0),
      },
    ]
  })
}

/** A segment scan with its estimated rows and its cost. */
interface Estimated {
  readonly scan: SegmentScan
  readonly expected: number
  readonly most: number
  readonly cost: number
}

/** The scan of a segment by one index; undefined if the index does not have the wanted order. */
function scanByIndex(request: ListRequest, segment: Segment, index: Index): Estimated | undefined {
  const { source, filters } = request
  const place = index.columns.indexOf(segment.column)
  if (place === -1) return undefined
  if (segment.column !== source.key && index.columns[place + 1] !== source.key) return undefined
  const prefix: EqualValues[] = []
  const served: Filter[] = []
  const { only } = index
  if (only) {
    const filter = filters.find(({ equals }) => equals?.column === only.column && isOneValue(equals))
    if (!filter || (filter.equals!.values as readonly SqlValue[])[0] !== only.value) return undefined
    served.push(filter)
  }
  for (const column of index.columns.slice(0, place)) {
    const filter = filters.find(({ equals }) => equals?.column === column)
    const equals = filter?.equals ?? source.ranges?.[column]
    if (!equals) return undefined
    prefix.push(equals)
    if (filter) served.push(filter)
  }
  const ranges = prefix.reduce((product, { count }) => product * count, 1)
  if (ranges > MAX_RANGES) return undefined
  const bounds = filters.filter(({ range }) => range?.column === segment.column)
  const checks = withoutImplied(filters).filter(
    (filter) => !served.includes(filter) && !bounds.includes(filter),
  )
  const within = estimateRows(request.rows, [...served, ...bounds])
  const has = new Set([...index.columns, ...(index.includes ?? [])])
  const scanned = only ? withConditions(segment, onlyCondition(source.alias, only)) : segment
  return estimated(request, { segment: scanned, prefix, bounds, checks, ranges }, within, has)
}

/**
 * Condition of a partial index. The value is in the text of the statement, because PostgreSQL does not use a partial
 * index if the value is a parameter of a prepared statement.
 */
function onlyCondition(alias: string, { column, value }: NonNullable<Index['only']>): Sql {
  return raw(`${alias}.${column} = ${value}`)
}

function withConditions(segment: Segment, ...more: readonly Sql[]): Segment {
  return { ...segment, conditions: [...(segment.conditions ?? []), ...more] }
}

/** The scan of a segment via a driving table (`DrivingTable`). */
function scanByDrivingTable(request: ListRequest, segment: Segment, driving: DrivingTable): Estimated {
  const checks = withoutImplied(request.filters.filter(({ name }) => !driving.applied.has(name)))
  const scan = { segment, prefix: [], bounds: [], checks, ranges: 1, driving }
  const scanned = estimated(request, scan, driving.rows, new Set())
  return { ...scanned, cost: scanned.cost + costOfDrivingRows(driving) }
}

/** Cost of sorting the rows of the driving table. The cost is the same however many rows of the list are then read. */
function costOfDrivingRows(driving: DrivingTable | undefined): number {
  return DRIVING_ROW_COST * (driving?.drivingRows ?? 0)
}

/**
 * @param within maximum number of rows that the scan can read.
 * @param has columns of the index. A check that reads only these columns does not visit the table.
 */
function estimated(
  { source, rows, filters, window, seen }: ListRequest,
  scan: Omit<SegmentScan, 'first'>,
  within: number,
  has: ReadonlySet<string>,
): Estimated {
  const { segment, checks, ranges } = scan
  const share = segment.share ?? 1
  const wanted = window.offset + window.limit
  const matches = seen
    ? Math.min(within, (seen.most * (seen.hits + 0.5)) / Math.max(1, seen.read))
    : estimateRows(rows, filters)
  const matching = matches * share
  const merged = rowsOfMerge(wanted, ranges)
  const full = Math.max(Math.min(within * share, merged), scan.driving?.least ?? 0)
  const needed = (merged * within * share) / Math.max(matching, 0.5)
  const expected = checks.length === 0 ? full : Math.max(full, Math.min(within * share, needed))
  const isCovered = checks.every((filter) => isWithin(filter, has))
  const served = filters.filter((filter) => !checks.includes(filter))
  const isByKey = !scan.driving && scan.prefix.length === 0 && segment.column === source.key
  const heapCost = isByKey ? NEIGHBOUR_COST : HEAP_COST
  const rowCost = (isCovered ? INDEX_COST : heapCost) + visitsOf(rows, filters, served)
  const rangeCost = isOneStream(ranges) ? RANGE_COST : MANY_RANGE_COST
  const first = Math.max(firstOfRange(wanted, ranges), checks.length === 0 ? 0 : Math.ceil(expected / ranges))
  const cost = expected * rowCost + rangeCost * ranges
  const conditions = isCovered ? checks.map(asFound) : checks
  return { scan: { ...scan, checks: conditions, first }, expected, most: within * share, cost }
}

/**
 * PostgreSQL merges up to this many index ranges as one ordered stream. With more ranges, each range is probed on its
 * own. Each merged range is a union branch, which PostgreSQL plans and starts even if the range has no row of the page.
 * 2 and 32 read the same number of pages.
 */
const MERGED_RANGES = 8
/**
 * Above MERGED_RANGES the first probe reads FIRST_ROWS x the rows of a page, over all ranges together. With a lower
 * factor, ranges with unequal numbers of matches give no bound and are probed again. With a higher factor, ranges with
 * equal numbers of matches are read too far. 1 reads 0.6 % more pages, 4 the same number.
 */
const FIRST_ROWS = 2

/**
 * Whether the ranges are read as one merged stream. Otherwise a first probe of each range bounds the rest of the scan.
 */
export function isOneStream(ranges: number): boolean {
  return ranges <= MERGED_RANGES
}

/**
 * Rows that the first probe reads from each range, if there are more than MERGED_RANGES ranges. If these rows contain a
 * page of matches, the last match of the page bounds the rest of the scan. Without the bound each range would have to
 * be read for a whole page.
 */
export function firstOfRange(wanted: number, ranges: number): number {
  return Math.ceil((FIRST_ROWS * wanted) / ranges)
}

/** Rows that a merge of ranges reads if every row belongs to the page. */
function rowsOfMerge(wanted: number, ranges: number): number {
  return isOneStream(ranges)
    ? wanted + ranges - 1
    : firstOfRange(wanted, ranges) * ranges + FIRST_ROWS * wanted
}
