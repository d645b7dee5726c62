import { without } from '../../../../core/endpoint/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { allOf, bind, raw, sql, where } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { ListReader } from '../../../planner/index.ts'
import { foundConditions, haveOnePlan, isImpossible, NEVER } from '../../../planner/filters/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import {
  wantedCollections,
  inCollections,
  containsName,
  isNoneOf,
  isOneOf,
} from '../../nft/conditions/index.ts'
import { resolveTemplates } from '../../nft/filters/index.ts'
import { assetFilters } from '../../nft/asset-lists/index.ts'
import type { AccountValues } from '../parameters.ts'
import { accountCount } from '../records/holding-schemas.ts'

/** Relation of accounts to assets: owner, or burner. */
interface AccountSide {
  readonly column: 'owner' | 'burned_by_account'
  /** Name of the parameter with the account names. */
  readonly parameter: 'owner' | 'burned_by_account'
  /** Table with the number of assets of each account. */
  readonly counters: string
}

const owningSide: AccountSide = { column: 'owner', parameter: 'owner', counters: 'assets.accounts' }
const burningSide: AccountSide = {
  column: 'burned_by_account',
  parameter: 'burned_by_account',
  counters: 'assets.burners',
}

/** A request for accounts by their assets. The filters on template data are not yet resolved to template ids. */
export interface AccountQuery {
  readonly session: Session
  readonly values: AccountValues
  readonly attributes: readonly AttributeFilter[]
}

/**
 * Query of the accounts with matching assets. Columns: `account`, and `assets`, the number of matching assets of the
 * account.
 */
interface AccountRows {
  readonly rows: Sql
  /** Whether one generic plan of the query is good for all parameter values. */
  readonly isFixed: boolean
}

/** Request parameters that filter accounts, not assets. `before` and `after` are accepted and ignored. */
const accountCounters = ['ids', 'lower_bound', 'upper_bound', 'before', 'after', 'burned_by_account'] as const
/**
 * Filters on assets that the counters by account and collection can apply. The counters answer a request that has no
 * other filter on assets.
 */
const collectionCounters = new Set(['collection_name', 'collection_whitelist', 'collection_blacklist'])

/**
 * JSON text of one page of owners. Owners with more matching assets come first. Owners with equal numbers are sorted by
 * name.
 */
export async function ownerPage(reader: ListReader, trigrams: boolean, query: AccountQuery): Promise<string> {
  return page(reader, query, await accountRows(reader, trigrams, query, owningSide))
}

/**
 * JSON text of one page of accounts that burned matching assets. Accounts that burned more of these assets come first.
 * Accounts with equal numbers are sorted by name.
 */
export async function burnerPage(
  reader: ListReader,
  trigrams: boolean,
  query: AccountQuery,
): Promise<string> {
  const { values } = query
  // Burned assets have no owner, so no burned asset matches a filter on owners.
  if (values.owner !== undefined || values.burned === false) return '[]'
  return page(reader, query, await accountRows(reader, trigrams, query, burningSide))
}

/** Number of accounts that own matching assets, as text. */
export async function countOwners(
  reader: ListReader,
  trigrams: boolean,
  query: AccountQuery,
): Promise<string> {
  const found = await accountRows(reader, trigrams, query, owningSide)
  if (!found) return '0'
  const statement = sql`SELECT count(*)::text FROM (${found.rows}) k`
  const [row] = await query.session.query<[string]>(reader.prepare(statement, found.isFixed))
  return row?.[0] ?? '0'
}

async function page(
  reader: ListReader,
  { session, values }: AccountQuery,
  found: AccountRows | undefined,
): Promise<string> {
  const window = pageWindow(values)
  if (!found) return '[]'
  // A generic plan does not know that the limit is small, so it ignores an index in the wanted order. The limit is
  // therefore a literal, except in a query for which one generic plan is good (`isFixed`).
  const number = (value: number): Sql => (found.isFixed ? bind(value, 'integer') : raw(value))
  const statement = sql`SELECT ${raw(accountCount.rows('p.assets DESC, p.account'))}
      FROM (SELECT k.account, k.assets FROM (${found.rows}) k
        ORDER BY k.assets DESC, k.account LIMIT ${number(window.limit)} OFFSET ${number(window.offset)}) p`
  const [row] = await session.query<[string | null]>(reader.prepare(statement, found.isFixed))
  return `[${accountCount.read(row?.[0]).join(',')}]`
}

/**
 * Query of the accounts with matching assets and of the number of these assets. The query reads the first possible
 * source:
 * - counters, if they apply all filters of the request;
 * - counters minus the excluded assets, if the only filter excludes few assets;
 * - the matching assets.
 * @returns undefined if no asset can match.
 */
async function accountRows(
  reader: ListReader,
  trigrams: boolean,
  { session, values, attributes }: AccountQuery,
  side: AccountSide,
): Promise<AccountRows | undefined> {
  // Assets with an owner are not burned, so no owned asset matches a filter on burned assets.
  if (side === owningSide && (values.burner !== undefined || values.burned === true)) return undefined
  const { statistics } = reader
  await statistics.refresh(session)
  const ofAssets = without(values, [...accountCounters, 'burned'])
  const request = { values: ofAssets, attributes, trigrams }
  const templates = await resolveTemplates(session, request)
  const filters = assetFilters({ ...request, templates, statistics })
  if (isImpossible(filters)) return undefined
  const about = filters.filter(({ name }) => name !== 'owner' && !isAlwaysMet(name, side))
  if (about.length === 0) return { rows: counters(side, values), isFixed: false }
  if (side === owningSide) {
    const names = about.flatMap(({ name }) => name.split(', '))
    if (names.every((name) => collectionCounters.has(name)))
      return { rows: ofCollections(values), isFixed: false }
    const [only] = about
    const left = about.length === 1 ? leftOut[only!.name] : undefined
    if (left !== undefined) return { rows: countersLess(left, values), isFixed: false }
  }
  return counted(side, values, filters)
}

/**
 * Whether the filter is left out because it excludes no asset. True for `hide_offers` on burned assets: a valid offer
 * contains no burned asset.
 */
function isAlwaysMet(name: string, side: AccountSide): boolean {
  return name === 'hide_offers' && side === burningSide
}

function counters(side: AccountSide, values: AccountValues): Sql {
  const conditions = [...accountConditions(raw('c.account'), side, values), ...ownerConditions(side, values)]
  return sql`SELECT c.account, c.assets FROM ${raw(side.counters)} c ${where(conditions)}`
}

function ownerConditions(side: AccountSide, values: AccountValues): Sql[] {
  const owners = side === owningSide ? values.owner : undefined
  return owners ? [isOneOf(raw('c.account'), owners)] : []
}

/**
 * Query of the owners of assets in the requested collections. The number of assets is the sum of the counters of these
 * collections for each owner.
 */
function ofCollections(values: AccountValues): Sql {
  const conditions = [
    ...inCollections('c.collection_name', values),
    ...accountConditions(raw('c.account'), owningSide, values),
    ...ownerConditions(owningSide, values),
  ]
  const rows = sql`FROM assets.collection_accounts c ${where(conditions)}`
  return wantedCollections(values)?.length === 1
    ? sql`SELECT c.account, c.assets ${rows}`
    : sql`SELECT c.account, sum(c.assets)::bigint AS assets ${rows} GROUP BY 1`
}

const ofTemplates = (flag: string): string =>
  `SELECT a.owner AS account, count(*) AS assets FROM assets.templates t JOIN assets.assets a USING (template_id)
    WHERE NOT t.${flag} AND a.owner IS NOT NULL GROUP BY 1`

/**
 * Queries of the assets that a filter excludes, by the name of the filter. Only filters that exclude few assets are
 * listed: the excluded assets are subtracted from the counters of accounts. Columns: `account`, the owner, and
 * `assets`, the number of excluded assets of the owner.
 */
const leftOut: Readonly<Record<string, string>> = {
  is_transferable: ofTemplates('transferable'),
  is_burnable: ofTemplates('burnable'),
  hide_offers: `SELECT a.owner AS account, count(*) AS assets
    FROM (SELECT DISTINCT x.asset_id FROM assets.open_offer_assets x JOIN assets.offers p USING (offer_id)
      WHERE p.state = 0) x JOIN assets.assets a USING (asset_id) WHERE a.owner IS NOT NULL GROUP BY 1`,
}

function countersLess(left: string, values: AccountValues): Sql {
  const conditions = [
    ...accountConditions(raw('c.account'), owningSide, values),
    ...ownerConditions(owningSide, values),
    raw('c.assets > coalesce(l.assets, 0)'),
  ]
  return sql`SELECT c.account, c.assets - coalesce(l.assets, 0) AS assets
    FROM assets.accounts c LEFT JOIN (${raw(left)}) l ON l.account = c.account ${where(conditions)}`
}

/** Query that reads the matching assets and counts them for each account. */
function counted(side: AccountSide, values: AccountValues, filters: readonly Filter[]): AccountRows {
  const account = raw(`a.${side.column}`)
  const ofAccounts = accountConditions(account, side, values)
  const conditions = [
    sql`${account} IS NOT NULL`,
    // The index by burner contains only burned assets. PostgreSQL uses this partial index only if the query requires an
    // empty owner.
    ...(side === burningSide ? [raw('a.owner IS NULL')] : []),
    ...foundConditions(filters),
    ...ofAccounts,
  ]
  const rows = sql`SELECT ${account} AS account, count(*) AS assets FROM assets.assets a
    WHERE ${allOf(conditions)} GROUP BY 1`
  return { rows, isFixed: ofAccounts.length === 0 && haveOnePlan(filters, []) }
}

/** Conditions of the parameters that filter accounts by name. */
function accountConditions(column: Sql, { parameter }: AccountSide, values: AccountValues): Sql[] {
  const conditions: Sql[] = []
  // In a list of owners, the parameter `owner` overrides `ids`, which also lists account names.
  const named = parameter === 'owner' ? undefined : values[parameter]
  const isNamed = parameter === 'owner' && values.owner !== undefined
  const ids = isNamed ? undefined : values.ids
  if (ids || named) {
    const all = [...(ids ?? []), ...(named ?? [])]
    conditions.push(all.length === 0 ? NEVER : isOneOf(column, all))
  }
  const { lower_bound: lower, upper_bound: upper } = values
  if (lower !== undefined) conditions.push(sql`${column} >= ${bind(lower, 'text')}`)
  if (upper !== undefined) conditions.push(sql`${column} < ${bind(upper, 'text')}`)
  const black = values.account_blacklist
  if (black && black.length > 0) conditions.push(isNoneOf(column, black))
  const match = values.match_owner
  if (match !== undefined) conditions.push(containsName(column, match))
  return conditions
}
