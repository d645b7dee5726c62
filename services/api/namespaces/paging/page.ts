import type { Bindings, Session } from '../../database/index.ts'
import { MOMENT, momentOf, whereClause } from '../../database/index.ts'
import { invalidParameter } from '../../endpoint/index.ts'
import type { Values } from '../../endpoint/index.ts'

/**
 * A way to reach the rows by an index that already has the order of the page. For each row of `drivers` the first rows
 * that satisfy `link` are taken; the page is the first of all of these.
 */
export interface Arm {
  /** FROM item, for example `unnest($1::text[]) AS b(owner)`. */
  readonly drivers: string
  /** Condition that ties a row to its driver, for example `a.owner = b.owner`. */
  readonly link: string
}

/** Values up to which each has an arm of its own: the planner then knows how many rows it has. */
const MAX_KNOWN = 4

/** Arms that reach the rows of each name in a column; `column` with its alias. */
export function armsOfNames(column: string, names: readonly string[], bindings: Bindings): Arm[] {
  if (names.length <= MAX_KNOWN) {
    return names.map((name) => ({
      drivers: '(SELECT) b',
      link: `${column} = ${bindings.bind(name, 'text')}`,
    }))
  }
  return [{ drivers: `unnest(${bindings.bind(names, 'text[]')}) AS b(name)`, link: `${column} = b.name` }]
}

/** A page of keys. */
export interface PageQuery {
  /** Key column, for example `a.asset_id`. */
  readonly key: string
  /** WITH items that `from`, `conditions` and `isWhole` may read. */
  readonly with?: string
  /** FROM item, for example `assets.assets a`. */
  readonly from: string
  readonly conditions: readonly string[]
  /** ORDER BY without the keyword. */
  readonly order: string
  /** Direction when the order is that of the key alone: only then can arms be used. */
  readonly keyDirection?: 'ASC' | 'DESC'
  /** Made only when a page is asked for: it binds values that a count has no place for. */
  readonly arms?: () => readonly Arm[] | undefined
  /** Query of the keys in order, at most so many, where `from` and `order` alone would be slow. */
  readonly ordered?: (most: number) => string
  /**
   * Quicker queries of the same rows in the same order that end early, for example after a stretch of an index: what one
   * finds counts when it fills the page, or when it is whole.
   */
  readonly attempts?: readonly PageQuery[]
  /** For an attempt: condition under which, and only under which, what it finds counts, be it less than a page or not. */
  readonly isWhole?: string
  /** The rows that follow when these have come to an end. */
  readonly rest?: () => PageQuery
  readonly bindings: Bindings
}

/** Rows to skip and to take. */
export interface PageWindow {
  readonly offset: number
  readonly limit: number
}

/** The keys of a page, in order, as text. */
export interface KeyPage {
  readonly keys: readonly string[]
  /** The `MOMENT` of the statement that selected them, the last of several; undefined when it tells none. */
  readonly moment: string | undefined
}

/**
 * The page that a request asks for. The statement is planned for its values: which index is best depends on how many
 * rows they match.
 */
export async function selectPage(session: Session, values: Values, query: PageQuery): Promise<KeyPage> {
  return selectWindow(session, query, pageWindow(values))
}

async function selectWindow(session: Session, query: PageQuery, window: PageWindow): Promise<KeyPage> {
  const page = (await selectAttempt(session, query, window)) ?? (await selectKeys(session, query, window))
  const { keys } = page
  if (!query.rest || keys.length === window.limit) return page
  // A page beyond these rows: how many they are tells where in the next it begins.
  const passed =
    keys.length > 0 || window.offset === 0
      ? window.offset + keys.length
      : Number(await countRows(session, query))
  const remaining = { offset: Math.max(0, window.offset - passed), limit: window.limit - keys.length }
  const rest = await selectWindow(session, query.rest(), remaining)
  return { keys: [...keys, ...rest.keys], moment: rest.moment }
}

/** What the first attempt finds that counts; undefined when none does. */
async function selectAttempt(
  session: Session,
  { attempts }: PageQuery,
  window: PageWindow,
): Promise<KeyPage | undefined> {
  for (const attempt of attempts ?? []) {
    const page = await selectKeys(session, attempt, window)
    if (page.isWhole ?? page.keys.length === window.limit) return page
  }
  return undefined
}

/** A page of keys, and whether `isWhole` holds; undefined for a query without it. */
interface FoundPage extends KeyPage {
  readonly isWhole: boolean | undefined
}

async function selectKeys(session: Session, query: PageQuery, window: PageWindow): Promise<FoundPage> {
  const arms = query.keyDirection ? query.arms?.() : undefined
  const text =
    arms && query.keyDirection ? armsText(query, arms, query.keyDirection, window) : plainText(query, window)
  const rows = await session.query<[string, string | null, boolean | null]>({
    // One text instead of a row for each key; no key contains a comma.
    text: `${query.with === undefined ? '' : `WITH ${query.with} `}SELECT array_to_string(ARRAY(${text}), ','), ${MOMENT},
      ${query.isWhole ?? 'NULL::boolean'}`,
    values: query.bindings.values,
  })
  const [keys, moment, isWhole] = rows[0]!
  return {
    keys: keys === '' ? [] : keys.split(','),
    moment: momentOf(moment),
    isWhole: isWhole ?? undefined,
  }
}

/** Number of rows that satisfy the conditions, as text. */
export async function countRows(
  session: Session,
  query: Pick<PageQuery, 'from' | 'conditions' | 'bindings'>,
): Promise<string> {
  const rows = await session.query<[string]>({
    text: `SELECT count(*)::text FROM ${query.from} ${whereClause(query.conditions)}`,
    values: query.bindings.values,
  })
  return rows[0]![0]
}

/**
 * Most rows that are skipped: every one of them is read. In the order of a key an index alone is; in any other order the
 * rows may have to be found and sorted first.
 */
const MAX_OFFSET_BY_KEY = 1_000_000
const MAX_OFFSET = 100_000
/** Sorts by the key, or by what has the order of the key. */
const KEY_SORT = /^created$|_id$|_name$/

/**
 * Rows to skip and to take.
 * @throws RequestError 400 for a page that is too far out; it names the parameters that continue without skipping.
 */
export function pageWindow(values: Values): PageWindow {
  const limit = values.int('limit')!
  const offset = (values.int('page')! - 1) * limit
  const sort = values.has('sort') ? values.text('sort')! : 'created'
  const most = KEY_SORT.test(sort) ? MAX_OFFSET_BY_KEY : MAX_OFFSET
  if (offset <= most) return { offset, limit }
  throw invalidParameter(
    'page',
    `it begins after row ${most} of this order; continue with lower_bound, upper_bound, before or after instead`,
  )
}

/** Sort direction of a request, as SQL. */
export function directionOf(values: Values): 'ASC' | 'DESC' {
  return values.text('order') === 'asc' ? 'ASC' : 'DESC'
}

function plainText(query: PageQuery, { offset, limit }: PageWindow): string {
  if (query.ordered)
    return `SELECT o.k::text FROM (${query.ordered(offset + limit)}) o LIMIT ${limit} OFFSET ${offset}`
  return (
    `SELECT ${query.key}::text FROM ${query.from} ${whereClause(query.conditions)} ` +
    `ORDER BY ${query.order} LIMIT ${limit} OFFSET ${offset}`
  )
}

function armsText(query: PageQuery, arms: readonly Arm[], direction: string, window: PageWindow): string {
  const parts = arms.map(
    ({ drivers, link }) =>
      `SELECT x.k FROM ${drivers} CROSS JOIN LATERAL (SELECT ${query.key} AS k FROM ${query.from} ` +
      `${whereClause([link, ...query.conditions])} ORDER BY ${query.key} ${direction} ` +
      `LIMIT ${window.offset + window.limit}) x`,
  )
  // UNION drops what two arms have both found; one arm finds nothing twice.
  return (
    `SELECT u.k::text FROM (${parts.join(' UNION ')}) u ` +
    `ORDER BY u.k ${direction} LIMIT ${window.limit} OFFSET ${window.offset}`
  )
}
