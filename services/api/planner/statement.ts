import { bind, joinSql, raw, Sql, sql, where } from '../sql/index.ts'
import type { SqlValue } from '../sql/index.ts'
import { firstOfRange, isChecked, isOneStream } from './choose.ts'
import type { AccessPath, SegmentScan, CollectPath, ScanPath } from './access-path.ts'
import type { EqualValues, Filter } from './filters/index.ts'
import { asFound, foundConditions, isOneValue } from './filters/index.ts'
import type { Segment, Order, PageWindow, Source } from './sources/index.ts'

/** Input of the statement builder. */
export interface StatementRequest {
  readonly source: Source
  readonly filters: readonly Filter[]
  readonly order: Order
  readonly window: PageWindow
}

/**
 * Query of the keys of a page, with columns `k` (key) and `n` (position in the whole list, from 0). A row whose `k` is
 * null is a marker: the row budget ran out before the end of the page, so the page is unknown. The marker's `n` is the
 * number of hits before it.
 */
export function pageOf(request: StatementRequest, path: AccessPath): Sql {
  return path.kind === 'collect' ? collectAndSort(request, path) : mergeScans(request, path)
}

/** FROM item and conditions of the rows that match all filters. */
export function foundRows(
  from: Sql,
  filters: readonly Filter[],
  through: Filter | undefined,
): { from: Sql; conditions: readonly Sql[] } {
  if (!through?.through) return { from, conditions: foundConditions(filters) }
  const others = filters.filter((filter) => filter !== through)
  return { from: through.through.from, conditions: others.map(({ condition }) => condition) }
}

/**
 * FROM item and conditions of the rows that match all filters, for an index-only scan. The FROM item is a subquery with
 * the `scanned` filters only: its index has all columns that the query reads. The conditions are the other filters.
 * OFFSET 0 in the subquery is an optimization fence. Without OFFSET 0, PostgreSQL combines this index with the index of
 * another filter, because it underestimates the rows that the other filter selects.
 */
function indexRows(
  { from, alias }: Source,
  filters: readonly Filter[],
  scanned: readonly Filter[],
): { from: Sql; conditions: readonly Sql[] } {
  const conditionsOf = (some: readonly Filter[]): Sql[] => some.map((filter) => asFound(filter).condition)
  const rows = sql`(SELECT ${raw(alias)}.* FROM ${from} ${where(conditionsOf(scanned))} OFFSET 0) ${raw(alias)}`
  return { from: rows, conditions: conditionsOf(filters.filter((filter) => !scanned.includes(filter))) }
}

function column(source: Source, name: string): Sql {
  return raw(`${source.alias}.${name}`)
}

function valueOf(source: Source, segment: Segment): Sql {
  return segment.value ?? orderedBy(source, segment)
}

/** Expression in whose order a scan of the segment reads. */
function orderedBy(source: Source, { expression, column: name }: Segment): Sql {
  return expression ?? column(source, name)
}

/** Whether the list is ordered by the key alone, so that no ties exist. */
function isByKey({ source, order }: StatementRequest): boolean {
  const [segment] = order.segments
  return order.segments.length === 1 && segment?.column === source.key && segment.value === undefined
}

/** Whether a scan returns rows with equal sort values in the wanted order of their keys, so that no sort is needed. */
function hasOrderOfKeys({ source, order }: StatementRequest, segment: Segment): boolean {
  const isOfColumn = segment.value === undefined || segment.column === source.key
  const direction = segment.direction ?? order.direction
  return isOfColumn && direction === (order.keys ?? 'ASC')
}

/**
 * ORDER BY expression of a scan; equals the order of the index.
 * @param value expression that the index stores under the name of the column.
 */
function indexOrder(request: StatementRequest, segment: Segment, value: Sql, key: Sql): Sql {
  const direction = raw(segment.direction ?? request.order.direction)
  const isByBoth = segment.column !== request.source.key && hasOrderOfKeys(request, segment)
  return isByBoth ? sql`${value} ${direction}, ${key} ${direction}` : sql`${value} ${direction}`
}

function collectAndSort(request: StatementRequest, { through, scanned }: CollectPath): Sql {
  const { source, filters, order, window } = request
  const { from, conditions } = scanned
    ? indexRows(source, filters, scanned)
    : foundRows(order.sorted?.from ?? source.from, filters, through)
  const [only] = order.segments
  const value = order.sorted?.value ?? valueOf(source, only!)
  const direction = raw(order.direction)
  const by = isByKey(request)
    ? sql`g.k ${direction}`
    : sql`g.v ${direction} NULLS ${raw(order.sorted?.nulls ?? 'LAST')}, g.k ${raw(order.keys ?? 'ASC')}`
  // OFFSET 0 is an optimization fence: without it PostgreSQL may scan an index in the order of the list instead of the
  // index of the filters. Only rows of the page are numbered: a window function over all rows would sort all of them.
  return sql`SELECT g.k, ${raw(window.offset)} + row_number() OVER (ORDER BY ${by}) - 1 AS n
    FROM (SELECT g.* FROM (SELECT ${column(source, source.key)} AS k, ${value} AS v FROM ${from}
      ${where(conditions)} OFFSET 0) g
    ORDER BY ${by} LIMIT ${raw(window.limit)} OFFSET ${raw(window.offset)}) g`
}

/**
 * Rounds a row count up to one significant digit, or two if it has more than three digits. A few more rows of an index
 * cost less than planning another statement text for each page size.
 */
function roundedUp(rows: number): number {
  const digits = String(rows).length
  const unit = 10 ** (digits - (digits > 3 ? 2 : 1))
  return Math.ceil(rows / unit) * unit
}

function mergeScans(request: StatementRequest, path: ScanPath): Sql {
  const { order, window } = request
  const end = window.offset + window.limit
  const wanted = isChecked(path) ? end : roundedUp(end)
  const isOfPage = isChecked(path)
    ? sql`p.n >= ${raw(window.offset)} OR NOT p.hit`
    : sql`p.n >= ${bind(window.offset, 'bigint')} AND p.n < ${bind(end, 'bigint')}`
  const direction = raw(order.direction)
  // A marker (a row without a key) sorts before the hits with the same sort value, because rows beyond the row budget
  // may have this sort value and lower keys.
  const within = isByKey(request)
    ? sql`m.v ${direction}`
    : sql`m.v ${direction}, m.k ${raw(order.keys ?? 'ASC')} NULLS FIRST`
  const ranks = [...new Set(path.scans.map(({ segment }) => segment.rank))].sort((a, b) => a - b)
  const items = ranks.map((rank, index) => {
    const scans = path.scans.filter(({ segment }) => segment.rank === rank)
    const parts = scans.map((scan) => segmentRows(request, scan, path.budget, wanted))
    const all =
      parts.length === 1
        ? parts[0]!
        : joinSql(
            parts.map((part) => sql`(${part})`),
            ' UNION ALL ',
          )
    // Each of many ranges returns up to a page of rows. ORDER BY and LIMIT reduce the rows of all ranges to one page
    // before PostgreSQL materializes them.
    const rows =
      parts.length > 1 || scans.some(hasSeveralRanges)
        ? sql`SELECT m.* FROM (${all}) m ORDER BY ${within} LIMIT ${raw(wanted)}`
        : all
    const name = raw(`rank${rank}`)
    if (index === 0) return sql`${name} AS MATERIALIZED (${rows})`
    const before = raw(`rank${ranks[index - 1]!}`)
    // A rank is read only if the lower ranks returned no marker and fewer rows than the page needs.
    return sql`${name} AS MATERIALIZED (SELECT b.* FROM (${rows}) b
      WHERE (SELECT count(*) < ${raw(wanted)} AND bool_and(f.hit) IS NOT FALSE FROM ${before} f)
      UNION ALL SELECT f.* FROM ${before} f)`
  })
  const last = raw(`rank${ranks.at(-1)!}`)
  const by = isByKey(request) ? within : sql`m.rank, ${within}`
  return sql`WITH ${joinSql(items, ', ')}
    SELECT CASE WHEN p.hit THEN p.k END AS k, p.n FROM (
      SELECT m.k, m.hit, row_number() OVER (ORDER BY ${by}) - 1 AS n FROM ${last} m ORDER BY ${by} LIMIT ${raw(wanted)}) p
    WHERE ${isOfPage}`
}

const ROWS_OF_RANGE = raw('x.k, x.v, x.rank, x.hit')

/**
 * Query of the first rows of a segment: key `k`, sort value `v`, `rank` of the segment, and `hit` (false for a marker).
 * Returns as many rows as the page needs, and rows tied with the last row.
 */
function segmentRows(
  request: StatementRequest,
  scan: SegmentScan,
  budgetOfChecked: number | undefined,
  wanted: number,
): Sql {
  const { source } = request
  // A scan without checks needs no budget: every row that it reads is on the page.
  const budget = scan.checks.length > 0 ? budgetOfChecked : undefined
  if (scan.driving) {
    const { driving, segment } = scan
    const checks = [...scan.checks.map(({ condition }) => condition), ...(segment.conditions ?? [])]
    return sql`SELECT d.k, d.v, ${raw(segment.rank)} AS rank, d.k IS NOT NULL AS hit
      FROM (${driving.query(checks, wanted, budget)}) d`
  }
  const { segment } = scan
  const several = scan.prefix.filter((equals) => !isOneValue(equals))
  const single = scan.prefix.filter(isOneValue).map(({ column: name, values, type }) => {
    const [value] = values as readonly SqlValue[]
    return sql`${column(source, name)} = ${bind(value ?? null, type)}`
  })
  const most =
    isByKey(request) || hasOrderOfKeys(request, segment)
      ? sql`LIMIT ${raw(wanted)}`
      : sql`FETCH FIRST ${raw(wanted)} ROWS WITH TIES`
  const parts = { single, several, budget, most }
  if (several.length === 0) {
    const rows = rangeRows(request, scan, rangeOf(request, scan, single), parts)
    return sql`SELECT ${ROWS_OF_RANGE} FROM (${rows}) x`
  }
  if (!isOneStream(scan.ranges)) return rowsOfMany(request, scan, parts, wanted)
  const { lists, stream } = streamOf(request, scan, parts)
  const items = lists.length === 0 ? raw('') : sql`WITH ${joinSql(lists, ', ')} `
  return sql`${items}SELECT ${ROWS_OF_RANGE} FROM (${rangeRows(request, scan, stream, parts)}) x`
}

/** Conditions, budget and limit shared by the index ranges of a scan. */
interface RangeParts {
  /** Conditions on the columns that are compared with one value. */
  readonly single: readonly Sql[]
  /** Columns that are compared with several values. Each combination of values is one index range. */
  readonly several: readonly EqualValues[]
  readonly budget: number | undefined
  /** LIMIT or FETCH FIRST clause. */
  readonly most: Sql
}

/**
 * Rows of many index ranges. A hit is a row that meets all filters. The query has four steps:
 *
 * 1. `first` probes the first rows of each range.
 * 2. `starts` reads the first hits of each range, unless `first` already has as many hits as the page needs.
 * 3. `bound` is the sort value of the last hit in `starts` that fits on the page. No row beyond `bound` is on the page.
 * 4. Each range is read from its first hit to `bound`, or to its end if `starts` has too few hits for a page.
 */
function rowsOfMany(
  request: StatementRequest,
  scan: SegmentScan,
  { single, several, budget, most }: RangeParts,
  wanted: number,
): Sql {
  const { source, order } = request
  const { segment, checks } = scan
  const valueRows = joinSql(
    several.map((equals, index) => rowsOfValues(equals, `r${index}`)),
    ' CROSS JOIN ',
  )
  const direction = segment.direction ?? order.direction
  const [least, last, atMost, atLeast] =
    direction === 'ASC' ? ['min', 'max', '<=', '>='] : ['max', 'min', '>=', '<=']
  const by = raw(direction)
  const ordered = orderedBy(source, segment)
  const keys = raw(several.map((_, index) => `v${index}`).join(', '))
  const values = raw(several.map((_, index) => `r${index}.value AS v${index}`).join(', '))
  const rangeBy = (value: (index: number) => string, more: readonly Sql[]): Range => {
    const conditions = several.map(
      ({ column: name }, index) => sql`${column(source, name)} = ${raw(value(index))}`,
    )
    return rangeOf(request, scan, [...single, ...conditions, ...more])
  }
  const all = rangeBy((index) => `r${index}.value`, [])
  // Each range continues at its first matching row, because the rows before it do not match. A range without a matching
  // row continues at the last row that was read.
  const continued = (known: string, selected: Sql, some: Sql, more: readonly Sql[]): Sql => {
    const range = rangeBy((index) => `r.v${index}`, [sql`${ordered} ${raw(atLeast)} r.begins`, ...more])
    return sql`SELECT ${selected} FROM (SELECT ${keys}, coalesce(${raw(least)}(c) FILTER (WHERE hit), ${raw(last)}(c)) AS begins
        FROM ${raw(known)} GROUP BY ${keys}) r
      CROSS JOIN LATERAL (${rangeRows(request, scan, range, { budget, most: some })}) x`
  }
  const isPage = sql`(SELECT count(*) >= ${raw(wanted)} FROM first WHERE hit)`
  const ofEach = sql`LIMIT ${raw(firstOfRange(wanted, scan.ranges))}`
  const rest = (more: readonly Sql[]): Sql => continued('starts', ROWS_OF_RANGE, most, more)
  return sql`WITH first AS MATERIALIZED (
      SELECT ${values}, x.c, x.hit FROM ${valueRows} CROSS JOIN LATERAL (SELECT ${ordered} AS c, ${isHit(checks)} AS hit
        FROM ${all.from} ${where(all.conditions)} ORDER BY ${ordered} ${by} LIMIT ${raw(scan.first)}) x),
    starts AS MATERIALIZED (SELECT ${keys}, c, hit FROM first WHERE ${isPage}
      UNION ALL ${continued('first', sql`${keys}, x.c, x.hit`, ofEach, [])} WHERE NOT ${isPage}),
    bound AS MATERIALIZED (
      SELECT c FROM starts WHERE hit ORDER BY c ${by} LIMIT 1 OFFSET ${raw(wanted - 1)})
    ${rest([sql`${ordered} ${raw(atMost)} (SELECT c FROM bound)`])} WHERE EXISTS (SELECT FROM bound)
    UNION ALL ${rest([])} WHERE NOT EXISTS (SELECT FROM bound)`
}

/** FROM item, conditions and order of an index range. */
interface Range {
  readonly from: Sql
  readonly conditions: readonly Sql[]
  readonly ordered: Sql
}

/** The index range that the values of the leading columns select. */
function rangeOf(
  { source }: StatementRequest,
  { segment, bounds }: SegmentScan,
  prefix: readonly Sql[],
): Range {
  const conditions = [...prefix, ...bounds.map(({ condition }) => condition), ...(segment.conditions ?? [])]
  return { from: source.from, conditions, ordered: orderedBy(source, segment) }
}

/**
 * Spare merge inputs in case the subquery returns more values than estimated: statistics miss the newest schemas. Each
 * spare input is one more union branch to plan.
 */
const SPARE_RANGES = 2

/**
 * Index ranges as one ordered stream: PostgreSQL merges them while reading (Merge Append). If a query returns more
 * values than the merge has inputs, the first rows of the ranges of the extra values are sorted instead.
 */
function streamOf(
  request: StatementRequest,
  scan: SegmentScan,
  parts: RangeParts,
): { readonly lists: readonly Sql[]; readonly stream: Range } {
  const { source } = request
  const { single, several, budget, most } = parts
  const alias = raw(source.alias)
  const orderIn = (row: string): Sql =>
    indexOrder(request, scan.segment, raw(`${row}.ordered_by`), raw(`${row}.${source.key}`))
  const rows = (prefix: readonly Sql[], checks: readonly Sql[], some: Sql): Sql => {
    const { from, conditions, ordered } = rangeOf(request, scan, [...single, ...prefix])
    return sql`SELECT ${alias}.*, ${ordered} AS ordered_by FROM ${from} ${where([...conditions, ...checks])}
      ORDER BY ${indexOrder(request, scan.segment, ordered, column(source, source.key))} ${some}`
  }
  const isOf = (equals: EqualValues, value: Sql): Sql => sql`${column(source, equals.column)} = ${value}`
  const lists: Sql[] = []
  const unmerged: Sql[] = []
  const valueRows: Sql[] = []
  const choices = several.map((equals, index) => {
    const { values, type, count } = equals
    if (!(values instanceof Sql)) {
      valueRows.push(rowsOfValues(equals, `r${index}`))
      return values.map((value) => isOf(equals, bind(value, type)))
    }
    const list = `list${index}`
    lists.push(
      sql`${raw(list)} AS MATERIALIZED (SELECT array_agg(q.value ORDER BY q.value) AS list FROM (${values}) q)`,
    )
    valueRows.push(
      sql`unnest((SELECT list FROM ${raw(list)})) WITH ORDINALITY AS ${raw(`r${index}(value, place)`)}`,
    )
    const merged = count + SPARE_RANGES
    unmerged.push(raw(`r${index}.place > ${merged}`))
    return Array.from({ length: merged }, (_, at) =>
      isOf(equals, raw(`(SELECT list[${at + 1}] FROM ${list})`)),
    )
  })
  const prefixes = choices.reduce<Sql[][]>(
    (all, some) => all.flatMap((before) => some.map((each) => [...before, each])),
    [[]],
  )
  const ranges = prefixes.map((prefix) => sql`(${rows(prefix, [], raw(''))})`)
  if (unmerged.length > 0) {
    const ofValues = several.map((equals, index) => isOf(equals, raw(`r${index}.value`)))
    const first =
      budget === undefined
        ? rows(
            ofValues,
            scan.checks.map(({ condition }) => condition),
            most,
          )
        : rows(ofValues, [], sql`LIMIT ${raw(budget + 1)}`)
    ranges.push(sql`(SELECT x.* FROM ${joinSql(valueRows, ' CROSS JOIN ')} CROSS JOIN LATERAL (${first}) x
      WHERE ${joinSql(unmerged, ' OR ')} ORDER BY ${orderIn('x')})`)
  }
  const ordered = sql`${alias}.ordered_by`
  // OFFSET 0 is an optimization fence. Without it, PostgreSQL would check the filters inside each range, and would read
  // each range until its first match.
  const from = sql`(SELECT u.* FROM (${joinSql(ranges, ' UNION ALL ')}) u ORDER BY ${orderIn('u')} OFFSET 0) ${alias}`
  return { lists, stream: { from, conditions: [], ordered } }
}

/** Query of the rows of a range, with `c`, the value in whose order the range is read. */
function rangeRows(
  request: StatementRequest,
  { segment, checks }: SegmentScan,
  { from, conditions, ordered }: Range,
  { budget, most }: Pick<RangeParts, 'budget' | 'most'>,
): Sql {
  const { source } = request
  const key = column(source, source.key)
  const value = segment.value ?? ordered
  const fields = sql`${key} AS k, ${value} AS v, ${raw(segment.rank)} AS rank, ${ordered} AS c`
  const byIndex = indexOrder(request, segment, ordered, key)
  if (budget === undefined) {
    const all = [...conditions, ...checks.map(({ condition }) => condition)]
    return sql`SELECT ${fields}, true AS hit FROM ${from} ${where(all)} ORDER BY ${byIndex} ${most}`
  }
  // One row more than the budget: its presence shows that the range continues.
  const isWithin = sql`y.place <= ${raw(budget)}`
  const knownKey = hasOrderOfKeys(request, segment) ? raw('y.k') : sql`CASE WHEN ${isWithin} THEN y.k END`
  const by = indexOrder(request, segment, raw('y.c'), raw('y.k'))
  return sql`SELECT ${knownKey} AS k, y.v, y.rank, y.c, y.hit AND ${isWithin} AS hit FROM (
      SELECT ${fields}, ${isHit(checks)} AS hit, row_number() OVER (ORDER BY ${byIndex}) AS place
      FROM ${from} ${where(conditions)} ORDER BY ${byIndex} LIMIT ${raw(budget + 1)}) y
    WHERE y.hit OR NOT ${isWithin} ORDER BY ${by} ${most}`
}

/** Expression that is true if a row passes all checks. Checks that visit other tables run last. */
function isHit(checks: readonly Filter[]): Sql {
  const cheapFirst = [...checks].sort((a, b) => (a.visits ?? 0) - (b.visits ?? 0))
  return sql`(${joinSql([raw('true'), ...cheapFirst.map(({ condition }) => sql`(${condition})`)], ' AND ')}) IS TRUE`
}

function hasSeveralRanges({ driving, prefix }: SegmentScan): boolean {
  return driving === undefined && !prefix.every(isOneValue)
}

/** FROM item with the values of an equality filter in the column `value`. */
function rowsOfValues({ values, type }: EqualValues, alias: string): Sql {
  if (values instanceof Sql) return sql`(${values}) AS ${raw(alias)}`
  return sql`unnest(${bind(values.map(String), `${type}[]`)}) AS ${raw(`${alias}(value)`)}`
}
