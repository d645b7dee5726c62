import { BITMAP_COST, firstOfRange, HEAP_COST, isOneStream, rowsOfMerge } from './costs.ts'
import type { EqualValues, Filter } from './filters/index.ts'
import { estimateRows, withoutImplied } from './filters/index.ts'
import type { Branch, Driven, Index, Order, PageWindow, Source } from './sources/index.ts'

/** A list to be read. */
export interface ListRequest {
  readonly source: Pick<Source, 'key' | 'indexes' | 'ranges'>
  /** Rows of the table. */
  readonly rows: number
  readonly filters: readonly Filter[]
  readonly order: Order
  readonly window: PageWindow
  /** What an earlier walk saw, in place of the estimate: of the `most` rows that it could read it read about `read`, and `hits` of these matched. */
  readonly seen?: { readonly most: number; readonly read: number; readonly hits: number }
}

/** How one branch of the order is walked. */
export interface BranchWalk {
  readonly branch: Branch
  /** Values of the columns before that of the order; the first of them begin the ranges. */
  readonly prefix: readonly EqualValues[]
  /** Filters that bound the column of the order. */
  readonly bounds: readonly Filter[]
  /** Filters that are checked on each row. */
  readonly checks: readonly Filter[]
  /** Ranges of the index: products of the values of the prefix. */
  readonly ranges: number
  /** Rows of each of many ranges that are read first. */
  readonly first: number
  /** Set where rows of another table lead to these. */
  readonly driven?: Driven
}

/** Reads rows in the wanted order until the page is full. Several ranges or branches are merged. */
export interface WalkPath {
  readonly kind: 'walk' | 'merge'
  readonly walks: readonly BranchWalk[]
  /** Rows that each range, or what is merged of them, reads at most; undefined without a limit. */
  readonly budget: number | undefined
  /** Rows that are read, estimated. */
  readonly expected: number
  /** Rows that are read where the page is not filled before, estimated. */
  readonly most: number
  readonly reason: string
}

/** Reads all rows that match by their most selective filters, and sorts them. */
export interface GatherPath {
  readonly kind: 'gather'
  /** The filter whose rows another table leads to, where that is how they are found. */
  readonly through?: Filter
  /** Whether only those with the greatest keys are found so, as many as the page needs. */
  readonly isLast?: boolean
  readonly expected: number
  readonly reason: string
}

/** How a list is read. */
export type AccessPath = WalkPath | GatherPath

/** What each range of a walk costs to begin; and each of many, which are read twice. */
const RANGE_COST = 12
const MANY_RANGE_COST = 100
/** What each row costs that leads to others. */
const DRIVER_COST = 2
/** Ranges up to which they are merged. */
const MAX_RANGES = 4_096
/** A walk may read so many times what was estimated before another path is chosen, but not fewer rows nor more than these: */
const BUDGET_FACTOR = 4
const MIN_BUDGET = 512
const MAX_BUDGET = 20_000
/** Each of many ranges may read so many times its share of the budget: some have more rows before the end of the page. */
const SKEW = 4
/** So many times the rows of a page are estimated where the page is sure to be full. */
const SURE = 4
/** A walk may always cost this share of what gathering would. */
const SHARE_OF_GATHERING = 0.25

/**
 * A walk may cost so many times what gathering would where it can read no more rows: of what is asked for often there are
 * more than of an average value, which is what is estimated. Not where these rows have been read in vain.
 */
const SAME_ROWS = 2

interface Candidate {
  readonly walks: readonly BranchWalk[]
  /** Rows that it reads, estimated. */
  readonly expected: number
  /** Rows that it reads where the page is not filled before. */
  readonly most: number
  readonly cost: number
}

/** The access path with the lowest estimated cost, and why. Pure: the same request always gives the same path. */
export function choosePath(request: ListRequest): AccessPath {
  const gather = gatherCost(request)
  const walk = cheapestWalk(request)
  const matches = Math.round(estimateRows(request.rows, request.filters))
  const about = `about ${matches} of ${Math.round(request.rows)} rows match`
  if (!walk || (gather && isCheaper(gather, walk, request))) {
    const other = walk ? `; a walk would read ${Math.round(walk.expected)}` : '; no index has this order'
    return {
      kind: 'gather',
      ...(gather?.through ? { through: gather.through } : {}),
      ...(gather?.isLast ? { isLast: true } : {}),
      expected: gather?.expected ?? request.rows,
      reason: `${about}, found by ${gather?.by ?? 'reading the table'}${other}`,
    }
  }
  const ranges = walk.walks.reduce((sum, each) => sum + each.ranges, 0)
  return {
    kind: ranges > 1 ? 'merge' : 'walk',
    walks: walk.walks,
    budget: isChecked(walk) ? budgetOf(walk, gather?.cost, request) : undefined,
    expected: walk.expected,
    most: walk.most,
    reason: `${about}, a walk of ${ranges} ${ranges === 1 ? 'range' : 'ranges'} is estimated to read ${Math.round(walk.expected)}${
      gather
        ? `; gathering by ${gather.by} costs ${Math.round(gather.cost)} against ${Math.round(walk.cost)}`
        : ''
    }`,
  }
}

/** Whether gathering costs less than a walk. */
function isCheaper(gather: Gathering, walk: Candidate, { seen }: ListRequest): boolean {
  const isOfSameRows = !seen && walk.most <= gather.expected
  return gather.cost * (isOfSameRows ? SAME_ROWS : 1) < walk.cost
}

function budgetOf(
  walk: Candidate,
  gatherCost: number | undefined,
  { seen }: ListRequest,
): number | undefined {
  // It is chosen once more, by what it has seen: nothing cheaper is left.
  if (seen) return undefined
  // Without a budget all rows of some are read.
  if (gatherCost === undefined && !walk.walks.some(isWholeWithoutBudget)) return undefined
  const beforeRows = walk.walks.reduce((sum, { driven }) => sum + driverCost(driven), 0)
  const rowCost = Math.max(HEAP_COST, (walk.cost - beforeRows) / Math.max(1, walk.expected))
  // The budget is smaller for rows that are expensive to check, but at least twice the row estimate.
  const most = Math.max((MAX_BUDGET * HEAP_COST) / rowCost, 2 * walk.expected)
  const rows = Math.max(
    Math.min(most, Math.max(MIN_BUDGET, BUDGET_FACTOR * walk.expected)),
    (SHARE_OF_GATHERING * (gatherCost ?? 0)) / rowCost,
  )
  const streams = streamsOf(walk.walks)
  const each = (rows / streams) * (isOneStream(streams) ? 1 : SKEW)
  // A power of two, so that statements are few and can be prepared.
  return 2 ** Math.ceil(Math.log2(Math.max(1, each)))
}

/** Whether the rows that walks read may not be those of the page. */
export function isChecked({ walks }: Pick<WalkPath, 'walks'>): boolean {
  return walks.some(isWalkChecked)
}

/** Whether the rows that a walk reads may not be those of the page. */
export function isWalkChecked(walk: BranchWalk): boolean {
  return walk.checks.length > 0 || isWholeWithoutBudget(walk)
}

function isWholeWithoutBudget({ branch, driven }: Pick<BranchWalk, 'branch' | 'driven'>): boolean {
  return branch.isCoarse === true || driven?.isBounded === true
}

/** How many streams walks read, each within the budget. */
export function streamsOf(walks: readonly BranchWalk[]): number {
  return walks.reduce((sum, { ranges }) => sum + (isOneStream(ranges) ? 1 : ranges), 0)
}

interface Gathering {
  readonly cost: number
  readonly expected: number
  readonly by: string
  readonly through?: Filter
  readonly isLast?: boolean
}

/** Cost of reading all matches by indexes, or through another table; undefined where no filter has either. */
function gatherCost(request: ListRequest): Gathering | undefined {
  const { rows, filters, order } = request
  // The order may need a FROM item of its own.
  const through = order.sorted?.from ? undefined : throughCost(rows, filters)
  return cheapest([indexedCost(rows, filters), through, lastCost(request)])
}

function cheapest(gatherings: readonly (Gathering | undefined)[]): Gathering | undefined {
  return gatherings.reduce((a, b) => (a && b ? (b.cost < a.cost ? b : a) : (a ?? b)), undefined)
}

/** Cost of finding the rows with the greatest keys through another table; undefined where these are not the page. */
function lastCost({ source, filters, order, window }: ListRequest): Gathering | undefined {
  const [branch, ...others] = order.branches
  const isOfLast = others.length === 0 && branch?.column === source.key && order.direction === 'DESC'
  const filter = filters.find(({ through }) => through?.last !== undefined)
  if (!isOfLast || !filter || filters.some((each) => each !== filter && !each.isImplied)) return undefined
  const wanted = window.offset + window.limit
  const expected = Math.min(filter.rows, wanted)
  return {
    cost: HEAP_COST * (filter.through!.last!.visits(wanted) + expected),
    expected,
    by: `${filter.name} (through another table, the last)`,
    through: filter,
    isLast: true,
  }
}

/** Cost of reading all matches by indexes: by those whose entries cost less than the rows that they spare, or by what searches other tables. */
function indexedCost(rows: number, filters: readonly Filter[]): Gathering | undefined {
  const indexed = filters.filter((each) => each.isIndexed && !each.through).sort((a, b) => a.rows - b.rows)
  const costOf = (some: readonly Filter[]): Gathering => {
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
  let [best, used]: [Gathering | undefined, readonly Filter[]] = [undefined, []]
  for (const filter of plain) {
    const next = costOf([...used, filter])
    if (!best || next.cost < best.cost) [best, used] = [next, [...used, filter]]
  }
  const searched = indexed.filter(({ finding }) => finding !== undefined).map((filter) => costOf([filter]))
  return cheapest([best, ...searched])
}

/** What finding all rows that match some filters costs, in visited rows; these included. */
export function findingCost(rows: number, filters: readonly Filter[]): number {
  return (indexedCost(rows, filters)?.cost ?? HEAP_COST * rows) / HEAP_COST
}

function throughCost(rows: number, filters: readonly Filter[]): Gathering | undefined {
  return filters
    .filter(({ isIndexed, through }) => isIndexed && through !== undefined)
    .map((filter) => ({
      cost:
        HEAP_COST * (filter.through!.visits + filter.rows) +
        visitsOf(rows, uncovered(filters, filter), [filter]) * filter.rows,
      expected: filter.rows,
      by: `${filter.name} (through another table)`,
      through: filter,
    }))
    .reduce<Gathering | undefined>((a, b) => (a && a.cost <= b.cost ? a : b), undefined)
}

/** Filters without those that follow from one. */
function uncovered(filters: readonly Filter[], through: Filter): Filter[] {
  return filters.filter((each) => each === through || !each.isImplied)
}

/** Cost of visits to other tables for one row, of filters that are not served; only what matches the other filters is checked. */
function visitsOf(rows: number, filters: readonly Filter[], served: readonly Filter[]): number {
  const checks = filters.filter((filter) => !served.includes(filter))
  const visits = checks.reduce((sum, each) => sum + (each.visits ?? 0), 0)
  if (visits === 0) return 0
  const cheap = checks.filter((each) => !each.visits)
  return (HEAP_COST * visits * estimateRows(rows, cheap)) / Math.max(rows, 1)
}

/** The filter through which all matches are counted, where that is cheaper than by the others' indexes or the whole table. */
export function countedThrough(rows: number, filters: readonly Filter[]): Filter | undefined {
  const through = throughCost(rows, filters)
  const plain = indexedCost(rows, filters)?.cost ?? HEAP_COST * rows
  return through && through.cost < plain ? through.through : undefined
}

function cheapestWalk(request: ListRequest): Candidate | undefined {
  const { rows, filters, order, window, seen } = request
  const matching = estimateRows(rows, filters)
  const walks: BranchWalk[] = []
  let cost = 0
  let expected = 0
  let most = 0
  for (const branch of order.branches) {
    const best = [walkOfBranch(request, branch), ...walksOfParts(request, branch)]
      .filter((each) => each !== undefined)
      .reduce<Candidate | undefined>((a, b) => (a && a.cost <= b.cost ? a : b), undefined)
    if (!best) return undefined
    walks.push(...best.walks)
    most += best.most
    const before = order.branches.filter(({ rank }) => rank < branch.rank)
    const first = matching * before.reduce((sum, { share = 1 }) => sum + share, 0)
    // A rank is not read where those before fill the page.
    if (!seen && before.length > 0 && first >= SURE * (window.offset + window.limit)) continue
    cost += best.cost
    expected += best.expected
  }
  return { walks, cost, expected, most }
}

/** The cheapest walk of a branch as a whole. */
function walkOfBranch(request: ListRequest, branch: Branch): Candidate | undefined {
  const driven = branch.driven ? [drivenWalk(request, branch, branch.driven)] : []
  const best = [...driven, ...request.source.indexes.map((index) => walkOf(request, branch, index))]
    .filter((each) => each !== undefined)
    .reduce<Estimated | undefined>((a, b) => (a && a.cost <= b.cost ? a : b), undefined)
  return best && { ...best, walks: [best.walk] }
}

/** The walks of a branch with each filter in turn taken in parts. */
function walksOfParts(request: ListRequest, branch: Branch): (Candidate | undefined)[] {
  return request.filters.flatMap((filter) => {
    if (!filter.parts || branch.driven) return []
    const found = filter.parts.map((part) => {
      const filters = request.filters.map((each) => (each === filter ? part.filter : each))
      const conditions = [...(branch.conditions ?? []), ...(part.apart ? [part.apart] : [])]
      return walkOfBranch({ ...request, filters }, { ...branch, conditions })
    })
    if (!found.every((each) => each !== undefined)) return []
    return [
      {
        walks: found.flatMap(({ walks }) => walks),
        cost: found.reduce((sum, { cost }) => sum + cost, 0),
        expected: found.reduce((sum, { expected }) => sum + expected, 0),
        most: found.reduce((sum, { most }) => sum + most, 0),
      },
    ]
  })
}

/** A walk of a branch with what it is estimated to cost. */
interface Estimated {
  readonly walk: BranchWalk
  readonly expected: number
  readonly most: number
  readonly cost: number
}

/** The walk of a branch by one index; undefined where the index has not the order. */
function walkOf(request: ListRequest, branch: Branch, index: Index): Estimated | undefined {
  const { source, filters } = request
  const place = index.columns.indexOf(branch.column)
  if (place === -1) return undefined
  if (branch.column !== source.key && index.columns[place + 1] !== source.key) return undefined
  const prefix: EqualValues[] = []
  const served: Filter[] = []
  for (const column of index.columns.slice(0, place)) {
    const filter = filters.find(({ equals }) => equals?.column === column)
    const equals = filter?.equals ?? source.ranges?.[column]
    if (!equals) return undefined
    prefix.push(equals)
    if (filter) served.push(filter)
  }
  const ranges = prefix.reduce((product, { count }) => product * count, 1)
  if (ranges > MAX_RANGES) return undefined
  const bounds = filters.filter(({ range }) => range?.column === branch.column)
  const checks = withoutImplied(filters).filter(
    (filter) => !served.includes(filter) && !bounds.includes(filter),
  )
  const within = estimateRows(request.rows, [...served, ...bounds])
  const has = new Set([...index.columns, ...(index.includes ?? [])])
  return estimated(request, { branch, prefix, bounds, checks, ranges }, within, has)
}

/** The walk of rows that another table leads to. */
function drivenWalk(request: ListRequest, branch: Branch, driven: Driven): Estimated {
  const checks = withoutImplied(request.filters.filter(({ name }) => !driven.applied.has(name)))
  const walk = { branch, prefix: [], bounds: [], checks, ranges: 1, driven }
  const walked = estimated(request, walk, driven.rows, new Set())
  return { ...walked, cost: walked.cost + driverCost(driven) }
}

/** Cost of putting the rows of another table in order, whatever is read of what they lead to. */
function driverCost(driven: Driven | undefined): number {
  return DRIVER_COST * (driven?.drivers ?? 0)
}

/** @param within rows that the walk could read. @param has columns that it knows without visiting rows. */
function estimated(
  { rows, filters, window, seen }: ListRequest,
  walk: Omit<BranchWalk, 'first'>,
  within: number,
  has: ReadonlySet<string>,
): Estimated {
  const { branch, checks, ranges } = walk
  const share = branch.share ?? 1
  const wanted = window.offset + window.limit
  const matches = seen
    ? Math.min(within, (seen.most * (seen.hits + 0.5)) / Math.max(1, seen.read))
    : estimateRows(rows, filters)
  const matching = matches * share
  const merged = rowsOfMerge(wanted, ranges)
  const full = Math.min(within * share, Math.max(merged, walk.driven?.least ?? 0))
  const needed = (merged * within * share) / Math.max(matching, 0.5)
  const isWhole = seen !== undefined && isWholeWithoutBudget(walk)
  const before = rowsBefore(rows, walk) * (within / Math.max(rows, 1)) * share
  const read = checks.length === 0 ? full : Math.max(full, Math.min(within * share, before + needed))
  const expected = walk.driven?.isSorted ? within : isWhole ? within * share : read
  const isCovered = checks.every(({ columns }) => columns?.every((column) => has.has(column)) === true)
  const served = filters.filter((filter) => !checks.includes(filter))
  const rowCost = (isCovered ? 1 : HEAP_COST) + visitsOf(rows, filters, served)
  const rangeCost = isOneStream(ranges) ? RANGE_COST : MANY_RANGE_COST
  const first = Math.max(firstOfRange(wanted, ranges), checks.length === 0 ? 0 : Math.ceil(expected / ranges))
  const cost = expected * rowCost + rangeCost * ranges
  return { walk: { ...walk, first }, expected, most: within * share, cost }
}

/** Rows that come before those of filters that stand together in the order: of the others half, if they do in one place. */
function rowsBefore(
  rows: number,
  { branch: { clusters }, checks }: Pick<BranchWalk, 'branch' | 'checks'>,
): number {
  const clustered = checks.filter(({ name }) => clusters?.has(name) === true)
  const places = Math.min(...clustered.map(({ name }) => Math.max(1, clusters!.get(name)!)))
  return clustered.length === 0 ? 0 : (rows - estimateRows(rows, clustered)) / (1 + places)
}
