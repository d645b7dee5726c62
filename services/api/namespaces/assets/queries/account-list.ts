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
  const window = pageWindow(values)
  if (!window) return '[]'
  const { from, conditions, bindings } = await accountSource(session, values, attributes, trigrams)
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
    const conditions = accountConditions('k.account', values, bindings)
    return { from: 'assets.accounts', conditions, bindings }
  }
  const resolved = await resolveTemplates(session, values, attributes, trigrams)
  const conditions = [
    'a.owner IS NOT NULL',
    ...assetConditions(values, bindings),
    ...accountConditions('a.owner', values, bindings),
    ...collectionLists('a.collection_name', values, bindings),
    ...hideOffersCondition(values),
    ...ownDataConditions(values, attributes, bindings),
    ...resolvedTemplateCondition(resolved, values, attributes, trigrams, bindings),
  ]
  const from = `(SELECT a.owner AS account, count(*) AS assets FROM assets.assets a ${whereClause(conditions)} GROUP BY 1)`
  return { from, conditions: [], bindings }
}

function accountConditions(column: string, values: Values, bindings: Bindings): string[] {
  const match = values.text('match_owner')
  return [
    ...(column === 'k.account' ? oneOf(column, values.texts('owner'), bindings) : []),
    ...boundaryConditions(
      values,
      { key: column, cast: 'text', parameter: 'owner', isFilter: true },
      bindings,
    ),
    ...noneOf(column, values.texts('account_blacklist'), bindings),
    ...(match === undefined ? [] : [contains(column, match, bindings)]),
  ]
}
