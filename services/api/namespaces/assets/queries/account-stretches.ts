import type { Session } from '../../../database/index.ts'
import { Bindings } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { PageWindow } from '../../paging/index.ts'
import { countedDigests, mutableConditions } from './account-digests.ts'
import type { AccountMatch } from './account-ranking.ts'
import { pageAmong } from './account-ranking.ts'
import { expectedRows } from './asset-search.ts'
import type { ResolvedTemplates } from './template-conditions.ts'

/** Filters that select templates. */
const OF_TEMPLATES = new Set(['match', 'search'])

/** Matching assets up to which they are counted one and all. */
const FEW = 40_000
/** Counting an asset in a table of owners costs as much as looking at so many assets in an owner's stretch. */
const GROUPING = 3
/** The same where what the assets say of their own has to be looked at for counting. */
const GROUPING_OWN_DATA = 10
/** Counting so many assets in an index that has their owners in order costs as much as looking at one account. */
const LOOK = 20
/** For each account that would do if all had the same share of matching assets: how many are looked at. */
const RESERVE = 1.4
/** The same where those beyond are looked at if they might belong to the page. */
const FURTHER = 3

/** A request for owners, by their assets that match. */
export interface OwnersRequest {
  readonly values: Values
  /** Parameters that ask about assets. */
  readonly filters: readonly string[]
  readonly attributes: readonly AttributeFilter[]
  readonly resolved: ResolvedTemplates
  /** Makes the conditions on a row `k` of the counter of accounts. */
  readonly accounts: (bindings: Bindings) => readonly string[]
}

/** A way to count the matching assets of some accounts. */
interface CountingWay {
  readonly match: AccountMatch
  /** Assets, not burned, that match, about. */
  readonly matching: number
  /** Each account is counted by itself. */
  readonly isByAccount: boolean
  /** Whether to look at so many accounts, which have so many assets, is quicker than to count all that match. */
  readonly isQuicker: (accounts: number, assets: number) => boolean
  /** Where it is not: all that match are read, and counted for those accounts alone. */
  readonly otherwise?: AccountMatch
}

/**
 * Where very many assets meet a filter that an index has together with the owner: a page of owners, as JSON text, from
 * the owners with the most assets, whose matching assets are counted in each one's own stretch of the index, or in a
 * table of these owners. Undefined where counting the matching assets of all owners is quicker, where other filters are
 * asked for, or where those owners do not suffice.
 */
export async function pageByStretches(
  session: Session,
  request: OwnersRequest,
  window: PageWindow,
): Promise<string[] | undefined> {
  const bindings = new Bindings()
  const way = await countingWay(session, request, bindings)
  if (!way || way.matching <= FEW) return undefined
  const { looked, isQuicker } = await accountsToLookAt(session, way, window)
  const match = isQuicker ? way.match : way.otherwise
  if (match === undefined) return undefined
  const conditions = request.accounts(bindings)
  const ranking = { counters: 'assets.accounts', conditions, match, bindings }
  return isQuicker && way.isByAccount
    ? pageAmong(session, ranking, window, looked, looked * FURTHER)
    : pageAmong(session, ranking, window, Math.ceil(looked * RESERVE))
}

async function countingWay(
  session: Session,
  { values, filters, attributes, resolved }: OwnersRequest,
  bindings: Bindings,
): Promise<CountingWay | undefined> {
  if (attributes.some(({ family }) => family === 'immutable_data' || family === 'mutable_data')) {
    return filters.length === 0 ? ownDataWay(session, attributes, bindings) : undefined
  }
  if (resolved.kind === 'many') return undefined
  if (resolved.kind === 'ids') {
    // Templates were looked up within the schemas.
    if (!filters.every((name) => OF_TEMPLATES.has(name) || name === 'schema_name')) return undefined
    const ids = bindings.bind(resolved.ids, 'integer[]')
    const matching = resolved.held
    return {
      // The planner need not know how many assets each template has.
      match: countedAssets(`a.template_id IS NOT NULL AND (+a.template_id) = ANY(${ids})`),
      matching,
      isByAccount: true,
      isQuicker: (_, assets) => assets < matching * GROUPING,
      otherwise: countedTemplates(ids),
    }
  }
  const condition = filters.length === 1 ? indexedCondition(filters[0]!, values, bindings) : undefined
  if (condition === undefined) return undefined
  const matching = await expectedRows(session, [condition, 'a.owner IS NOT NULL'], bindings)
  return {
    match: countedAssets(condition),
    matching,
    isByAccount: true,
    isQuicker: (accounts) => accounts * LOOK < matching,
  }
}

/** Counts the assets of each account, `k`, that meet a condition, in an index that has their owner. */
function countedAssets(condition: string): AccountMatch {
  const join = `CROSS JOIN LATERAL (SELECT count(*) AS assets FROM assets.assets a
    WHERE a.owner = k.account AND ${condition}) l`
  return { join, count: 'l.assets' }
}

/** Counts the assets of some templates, those of the accounts, `k`, alone: a table of few accounts is quick. */
function countedTemplates(ids: string): AccountMatch {
  return {
    with: `l AS MATERIALIZED (SELECT a.owner AS account, count(*) AS assets FROM assets.assets a
      WHERE a.template_id = ANY(ARRAY(SELECT unnest(${ids}))) AND a.owner IN (SELECT k.account FROM k) GROUP BY 1)`,
    join: 'LEFT JOIN l ON l.account = k.account',
    count: 'coalesce(l.assets, 0)',
  }
}

/** Filters on mutable attributes alone: assets that say the same have the same digest. */
async function ownDataWay(
  session: Session,
  attributes: readonly AttributeFilter[],
  bindings: Bindings,
): Promise<CountingWay | undefined> {
  const conditions = mutableConditions(attributes, bindings)
  if (conditions === undefined) return undefined
  const matching = await expectedRows(session, [...conditions, 'a.owner IS NOT NULL'], bindings)
  return {
    match: countedDigests(conditions),
    matching,
    isByAccount: false,
    isQuicker: (_, assets) => assets < matching * GROUPING_OWN_DATA,
  }
}

/** A filter by one value that an index has together with the owner. */
function indexedCondition(filter: string, values: Values, bindings: Bindings): string | undefined {
  if (filter === 'template_id') return values.isNull(filter) ? 'a.template_id IS NULL' : undefined
  if (filter !== 'minter' && filter !== 'schema_name') return undefined
  const names = values.texts(filter) ?? []
  return names.length === 1 ? `a.${filter} = ${bindings.bind(names[0]!, 'text')}` : undefined
}

/**
 * How many of the accounts with the most assets to look at, and whether that is quicker than to count all that match.
 * Numbers of assets fall about as fast as ranks grow: with a third of the assets matching, the account of rank
 * 300 has as many assets as that of rank 100 has matching ones.
 */
async function accountsToLookAt(
  session: Session,
  { matching, isQuicker }: CountingWay,
  { offset, limit }: PageWindow,
): Promise<{ looked: number; isQuicker: boolean }> {
  const bindings = new Bindings()
  const matched = bindings.bind(matching, 'float8')
  const all = `(SELECT c.reltuples::float8 FROM pg_class c WHERE c.oid = 'assets.assets'::regclass)`
  const last = bindings.bind(offset + limit, 'float8')
  const most = `ceil(${last} * greatest(${all}, ${matched}) / ${matched})::bigint`
  const rows = await session.query<[looked: string | null, assets: number | null]>({
    text: `SELECT ${most}::text, (SELECT sum(k.assets)::float8
      FROM (SELECT k.assets FROM assets.accounts k ORDER BY k.assets DESC, k.account LIMIT ${most}) k)`,
    values: bindings.values,
  })
  const [accounts, assets] = rows[0]!
  const looked = Number(accounts)
  return { looked, isQuicker: isQuicker(looked, assets ?? 0) }
}
