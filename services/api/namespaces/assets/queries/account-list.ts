import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import { boundaryConditions, countRows, pageWindow } from '../../paging/index.ts'
import {
  assetConditions,
  collectionLists,
  hideOffersCondition,
  noneOf,
  oneOf,
  ownDataConditions,
} from './asset-conditions.ts'
import { resolvedTemplateCondition, resolveTemplates } from './template-conditions.ts'
import { contains } from './text-match.ts'

/** Parameters that ask about accounts, not about their assets: the maintained counters answer them. */
const OF_ACCOUNTS = new Set([
  'page',
  'limit',
  'count',
  'owner',
  'match_owner',
  'ids',
  'lower_bound',
  'upper_bound',
  'before',
  'after',
  'account_blacklist',
  'hide_offers',
])

/** What accounts are to the assets, and the parameter that names them. */
interface AccountSide {
  readonly column: string
  /** Key of the boundary parameters. */
  readonly parameter: string
  /** The parameter is also a condition of the asset filter. */
  readonly isFilter: boolean
}

const OWNERS: AccountSide = { column: 'a.owner', parameter: 'owner', isFilter: true }

/** Rows of accounts with the number of assets of each that match. */
interface AccountSource {
  /** FROM item with the columns `account` and `assets`. */
  readonly from: string
  readonly conditions: readonly string[]
  readonly bindings: Bindings
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
  const bindings = new Bindings()
  const side = { column: 'a.burned_by_account', parameter: 'burned_by_account', isFilter: false } as const
  const source = await groupedAssets(session, values, attributes, trigrams, side, bindings)
  return selectRanking(session, values, source)
}

/** The page of accounts with the most assets, ties by name. */
async function selectRanking(
  session: Session,
  values: Values,
  { from, conditions, bindings }: AccountSource,
): Promise<string> {
  const window = pageWindow(values)
  if (!window) return '[]'
  const rows = await session.query<[string]>({
    text: `SELECT concat('{"account":"', k.account, '","assets":"', k.assets, '"}') FROM ${from} k
      ${whereClause(conditions)} ORDER BY k.assets DESC, k.account LIMIT ${window.limit} OFFSET ${window.offset}`,
    values: bindings.values,
  })
  return `[${rows.map(([text]) => text).join(',')}]`
}

/** Number of accounts that match, as text. */
export async function countAccounts(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string> {
  const source = await accountSource(session, values, attributes, trigrams)
  return countRows(session, { ...source, from: `${source.from} k` })
}

async function accountSource(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<AccountSource> {
  const bindings = new Bindings()
  const isSimple =
    attributes.length === 0 &&
    values.bool('hide_offers') !== true &&
    values.names().every((name) => OF_ACCOUNTS.has(name))
  if (isSimple) {
    const conditions = [
      ...oneOf('k.account', values.texts('owner'), bindings),
      ...accountConditions({ ...OWNERS, column: 'k.account' }, values, bindings),
    ]
    return { from: 'assets.accounts', conditions, bindings }
  }
  return groupedAssets(session, values, attributes, trigrams, OWNERS, bindings)
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
  const conditions = [
    `${side.column} IS NOT NULL`,
    ...assetConditions(values, bindings),
    ...accountConditions(side, values, bindings),
    ...collectionLists('a.collection_name', values, bindings),
    ...hideOffersCondition(values),
    ...ownDataConditions(values, attributes, bindings),
    ...resolvedTemplateCondition(resolved, values, attributes, trigrams, bindings),
  ]
  const from = `(SELECT ${side.column} AS account, count(*) AS assets FROM assets.assets a ${whereClause(conditions)} GROUP BY 1)`
  return { from, conditions: [], bindings }
}

function accountConditions(side: AccountSide, values: Values, bindings: Bindings): string[] {
  const { column, parameter, isFilter } = side
  const match = values.text('match_owner')
  return [
    ...boundaryConditions(values, { key: column, cast: 'text', parameter, isFilter }, bindings),
    ...noneOf(column, values.texts('account_blacklist'), bindings),
    ...(match === undefined ? [] : [contains(column, match, bindings)]),
  ]
}
