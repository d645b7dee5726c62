import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { PageWindow } from '../../paging/index.ts'
import { boundaryConditions, countRows, pageWindow } from '../../paging/index.ts'
import { burnersByDigest } from './account-digests.ts'
import type { AccountColumn, LeftOut } from './account-filters.ts'
import { assetFilters, leftOut, OF_COLLECTIONS } from './account-filters.ts'
import { accountRow, rankedPage } from './account-ranking.ts'
import { pageByStretches } from './account-stretches.ts'
import {
  assetConditions,
  collectionLists,
  hideOffersCondition,
  NEVER,
  noneOf,
  oneOf,
  ownDataConditions,
} from './asset-conditions.ts'
import {
  drivingTemplateCondition,
  passingTemplateCondition,
  resolveTemplates,
} from './template-conditions.ts'
import { nameContains } from './text-match.ts'

/** What accounts are to the assets, and the parameter that names them. */
interface AccountSide {
  readonly column: AccountColumn
  /** Key of the boundary parameters. */
  readonly parameter: string
  /** The parameter is also a condition of the asset filter. */
  readonly isFilter: boolean
  /** Table with the number of assets of each account. */
  readonly counters: string
}

const OWNERS: AccountSide = {
  column: 'a.owner',
  parameter: 'owner',
  isFilter: true,
  counters: 'assets.accounts',
}
const BURNERS: AccountSide = {
  column: 'a.burned_by_account',
  parameter: 'burned_by_account',
  isFilter: false,
  counters: 'assets.burners',
}

/** Rows of accounts with the number of assets of each that match. */
interface AccountSource {
  /** FROM item with the columns `account` and `assets`. */
  readonly from: string
  readonly conditions: readonly string[]
  readonly bindings: Bindings
  /** Finds a page without counting the assets of every account; undefined where that is not quicker. */
  readonly quickPage?: (window: PageWindow) => Promise<string[] | undefined>
  /** Query of the number of accounts, where it is quicker than counting the rows. */
  readonly count?: string
}

/** The page of accounts that a request asks for, as the JSON text of its records. */
export async function selectAccounts(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string> {
  return selectRanking(session, values, await accountSource(session, values, attributes, trigrams))
}

/** The page of accounts that burned assets, as the JSON text of its records. */
export async function selectBurners(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string> {
  // What is burned has no owner.
  if (values.has('owner') || values.bool('burned') === false) return '[]'
  return selectRanking(session, values, await sourceOf(session, values, attributes, trigrams, BURNERS))
}

/** The page of accounts with the most assets, ties by name. */
async function selectRanking(session: Session, values: Values, source: AccountSource): Promise<string> {
  const window = pageWindow(values)
  if (!window) return '[]'
  const quick = await source.quickPage?.(window)
  return `[${(quick ?? (await countedPage(session, source, window))).join(',')}]`
}

async function countedPage(
  session: Session,
  { from, conditions, bindings }: AccountSource,
  { limit, offset }: PageWindow,
): Promise<string[]> {
  // Written within the sort, the records would be made of every account.
  const rows = await session.query<[string]>({
    text: `SELECT ${accountRow('k.account', 'k.assets')} FROM (SELECT k.account, k.assets FROM ${from} k
        ${whereClause(conditions)} ORDER BY k.assets DESC, k.account LIMIT ${limit} OFFSET ${offset}) k
      ORDER BY k.assets DESC, k.account`,
    values: bindings.values,
  })
  return rows.map(([text]) => text)
}

/** Number of accounts that match, as text. */
export async function countAccounts(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string> {
  const source = await accountSource(session, values, attributes, trigrams)
  const { count, bindings, from } = source
  if (count === undefined) return countRows(session, { ...source, from: `${from} k` })
  const rows = await session.query<[string]>({ text: count, values: bindings.values })
  return rows[0]![0]
}

async function accountSource(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<AccountSource> {
  // What has an owner is not burned.
  if (values.has('burner') || values.bool('burned') === true) {
    return { from: OWNERS.counters, conditions: [NEVER], bindings: new Bindings() }
  }
  return sourceOf(session, values, attributes, trigrams, OWNERS)
}

async function sourceOf(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
  side: AccountSide,
): Promise<AccountSource> {
  const bindings = new Bindings()
  const filters = attributes.length > 0 ? null : assetFilters(values, side.column)
  if (filters?.length === 0) {
    return { from: side.counters, conditions: countedConditions(side, values, bindings), bindings }
  }
  const left = filters?.length === 1 ? leftOut(filters[0]!, side.column, values, bindings) : undefined
  if (left !== undefined) return withoutSome(session, side, left, values, bindings)
  if (filters && side === OWNERS && filters.every((name) => OF_COLLECTIONS.has(name))) {
    return ofCollections(values, bindings)
  }
  return groupedAssets(session, values, attributes, trigrams, side, bindings)
}

/** Conditions on a row `k` of a counter, that ask about the account alone. */
function countedConditions(side: AccountSide, values: Values, bindings: Bindings): string[] {
  const named = side.isFilter ? oneOf('k.account', values.texts(side.parameter), bindings) : []
  return [...named, ...accountConditions('k.account', side, values, bindings)]
}

/** Owners of assets of some collections: each collection has counters of its own. */
function ofCollections(values: Values, bindings: Bindings): AccountSource {
  const wanted = values.texts('collection_name') ?? values.texts('collection_whitelist')
  const conditions = [
    ...oneOf('k.collection_name', values.texts('collection_name'), bindings),
    ...collectionLists('k.collection_name', values, bindings),
    ...countedConditions(OWNERS, values, bindings),
  ]
  if (wanted?.length === 1) return { from: 'assets.collection_accounts', conditions, bindings }
  const from = `(SELECT k.account, sum(k.assets) AS assets FROM assets.collection_accounts k
    ${whereClause(conditions)} GROUP BY 1)`
  return { from, conditions: [], bindings }
}

/** Accounts less the few assets that a filter leaves out. */
function withoutSome(
  session: Session,
  side: AccountSide,
  left: LeftOut,
  values: Values,
  bindings: Bindings,
): AccountSource {
  const { counters } = side
  const conditions = countedConditions(side, values, bindings)
  const ranking = { counters, conditions, match: left.match, bindings }
  const all = whereClause(conditions)
  const nothing = whereClause([...conditions, 'k.assets <= l.assets'])
  return {
    from: counters,
    conditions,
    bindings,
    quickPage: (window) => rankedPage(session, ranking, window),
    count: `SELECT ((SELECT count(*) FROM ${counters} k ${all})
      - (SELECT count(*) FROM ${left.from} l JOIN ${counters} k USING (account) ${nothing}))::text`,
  }
}

/** Accounts by the assets of theirs that match. */
async function groupedAssets(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
  side: AccountSide,
  bindings: Bindings,
): Promise<AccountSource> {
  const resolved = await resolveTemplates(session, values, attributes, trigrams)
  // What is burned is a small part of all assets, and read by who burned it.
  const ofTemplates = side === OWNERS ? drivingTemplateCondition : passingTemplateCondition
  const conditions = [
    `${side.column} IS NOT NULL`,
    ...assetConditions(values, bindings, true),
    ...accountConditions(side.column, side, values, bindings),
    ...collectionLists('a.collection_name', values, bindings),
    ...hideOffersCondition(values),
    ...ownDataConditions(values, attributes, bindings),
    ...ofTemplates(resolved, values, attributes, trigrams, bindings),
  ]
  const from = `(SELECT ${side.column} AS account, count(*) AS assets FROM assets.assets a ${whereClause(conditions)} GROUP BY 1)`
  const source = { from, conditions: [], bindings }
  const filters = assetFilters(values, side.column)
  if (side === OWNERS) {
    const accounts = (bound: Bindings): string[] => countedConditions(side, values, bound)
    const request = { values, filters, attributes, resolved, accounts }
    return { ...source, quickPage: (window) => pageByStretches(session, request, window) }
  }
  if (filters.length > 0 || attributes.length === 0) return source
  const accounts = (bound: Bindings): string[] => accountConditions(side.column, side, values, bound)
  return { ...source, quickPage: (window) => burnersByDigest(session, attributes, accounts, window) }
}

/** @param column name of the account. */
function accountConditions(
  column: string,
  { parameter, isFilter }: AccountSide,
  values: Values,
  bindings: Bindings,
): string[] {
  const match = values.text('match_owner')
  return [
    ...boundaryConditions(values, { key: column, cast: 'text', parameter, isFilter }, bindings),
    ...noneOf(column, values.texts('account_blacklist'), bindings),
    ...(match === undefined ? [] : [nameContains(column, match, bindings)]),
  ]
}
