import { PreparedNames, sql } from '../sql/index.ts'
import type { Session } from '../database/index.ts'
import type { Sql, Statement } from '../sql/index.ts'
import { choosePath, countedThrough, isChecked, streamsOf } from './choose.ts'
import type { AccessPath, ListRequest } from './access-path.ts'
import { countOf } from './count.ts'
import { haveOnePlan, isImpossible } from './filters/index.ts'
import type { Filter } from './filters/index.ts'
import type { Order, PageWindow, Source } from './sources/index.ts'
import { pageOf } from './statement.ts'
import type { Statistics } from './statistics.ts'

/** A list to read: table, filters and order. */
export interface List {
  readonly source: Source
  /** Schema-qualified name of the source's table, as the statistics know it. */
  readonly table: string
  readonly filters: readonly Filter[]
  readonly order: Order
  /** Converts the keys of a page to the keys of records, if both differ. */
  readonly recordKeys?: ((keys: Sql) => Sql) | undefined
}

/**
 * Result of a plan: its records or, if its row budget ran out, the number of rows that matched the filters until then.
 */
export type PageResult<Records> = { readonly records: Records } | { readonly hits: number }

/** How the keys of a page are read. */
export interface PagePlan {
  /** Subquery with the columns `k` (key) and `n` (position); see `pageOf`. */
  readonly keys: Sql
  /** Whether one plan suits all parameter values of the statement, so that connections may prepare the statement. */
  readonly isFixed: boolean
  /** Why the planner chose this access path; logged. */
  readonly reason: string
  /**
   * Returns the plan to continue with after the row budget ran out. The new plan has no budget; its row estimate uses
   * the rows that the first plan has read. @param hits number of matching rows that the first plan has read.
   */
  readonly again: (hits: number) => PagePlan
}

/** Chooses the access path of a list; tests pass a function that forces one. */
export type ChoosePath = (request: ListRequest) => AccessPath

/**
 * Maximum number of statement texts that get a name for prepared statements. Each connection keeps the plans of named
 * statements in memory; statements without a name are planned at every request.
 */
const MAX_PREPARED = 200

/** Reads the lists of one namespace: estimates rows, chooses the access path, builds the statement. */
export class ListReader {
  readonly statistics: Statistics
  readonly #choose: ChoosePath
  readonly #names = new PreparedNames(MAX_PREPARED)

  /** @param statistics of the tables that the lists read. */
  constructor(statistics: Statistics, choose: ChoosePath = choosePath) {
    this.statistics = statistics
    this.#choose = choose
  }

  /** Forgets all statistics, because a reconnect can lead to another database. */
  clear(): void {
    this.statistics.clear()
  }

  /**
   * Plans a page.
   * @param seen numbers of rows that an earlier plan has read before its row budget ran out.
   * @returns undefined if no row can match.
   */
  plan(list: List, window: PageWindow, seen?: ListRequest['seen']): PagePlan | undefined {
    const { source, filters, order, recordKeys } = list
    if (isImpossible(filters)) return undefined
    const request = { source, rows: this.statistics.rows(list.table), filters, order, window }
    const path = this.#choose(seen ? { ...request, seen } : request)
    const keys = pageOf(request, path)
    return {
      keys: recordKeys ? recordKeys(keys) : keys,
      isFixed:
        path.kind === 'collect'
          ? path.scanned !== undefined || (!path.through && haveOnePlan(filters, source.indexes))
          : path.budget !== undefined || !isChecked(path),
      reason: `${path.kind}: ${path.reason}`,
      again: (hits) => this.plan(list, window, seenBy(path, hits))!,
    }
  }

  /** The keys of a page, as text. */
  async keys(session: Session, list: List, window: PageWindow): Promise<string[]> {
    let plan = this.plan(list, window)
    while (plan) {
      const found = await readPageKeys(session, plan)
      if ('records' in found) return found.records
      plan = plan.again(found.hits)
    }
    return []
  }

  /** The number of rows of a list, as text. */
  async count(session: Session, list: Pick<List, 'source' | 'table' | 'filters'>): Promise<string> {
    if (isImpossible(list.filters)) return '0'
    const through = countedThrough(this.statistics.rows(list.table), list.filters)
    const isFixed = haveOnePlan(list.filters, list.source.indexes)
    const statement = this.prepare(countOf(list, through), isFixed)
    const [row] = await session.query<[string]>(statement)
    return row?.[0] ?? '0'
  }

  /**
   * Renders a statement. If `isFixed` is true, the statement gets a name, and each connection prepares the statement
   * once.
   */
  prepare(statement: Sql, isFixed: boolean): Statement {
    const rendered = statement.render()
    return isFixed ? this.#names.prepared(rendered) : rendered
  }
}

/** Reads the keys of a page, as text, with a statement that PostgreSQL plans for the given values. */
export async function readPageKeys(
  session: Session,
  { keys, reason }: Pick<PagePlan, 'keys' | 'reason'>,
): Promise<PageResult<string[]>> {
  const statement = sql`SELECT string_agg(p.k::text, ',' ORDER BY p.n), min(p.n) FILTER (WHERE p.k IS NULL)
    FROM (${keys}) p`
  const [row] = await session.query<[string | null, bigint | number | null]>({
    ...statement.render(),
    reason,
  })
  const [found, hits] = row ?? [null, null]
  return hits === null ? { records: found === null ? [] : found.split(',') } : { hits: Number(hits) }
}

/** Error for a plan that the planner never creates. */
function withoutBudget({ reason }: AccessPath): Error {
  return new Error(`a row budget ran out, but the access path has no row budget: ${reason}`)
}

/** Rows read and rows matched by a scan whose row budget ran out. */
function seenBy(path: AccessPath, hits: number): NonNullable<ListRequest['seen']> {
  if (path.kind === 'collect' || path.budget === undefined) throw withoutBudget(path)
  // The scan read between `budget` rows (one stream) and `budget` rows of every stream: take the geometric mean.
  const read = path.budget * Math.sqrt(streamsOf(path.scans))
  return { most: path.most, read: Math.min(path.most, read), hits }
}
