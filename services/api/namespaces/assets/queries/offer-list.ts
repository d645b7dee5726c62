import type { Session } from '../../../database/index.ts'
import { Bindings } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { invalidParameter } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { boundaryConditions, directionOf } from '../../paging/index.ts'
import { NEVER, noneOf, oneOf } from './asset-conditions.ts'
import { containedAssetConditions, findContainedAssets, hideContractsCondition } from './contained-assets.ts'
import { contains } from './text-match.ts'

const ALL_ASSETS = '(o.sender_asset_ids || o.recipient_asset_ids)'

/** The page of offers that a request asks for; keys are offer ids. */
export async function offerQuery(session: Session, values: Values): Promise<PageQuery> {
  const contained = await findContainedAssets(session, values, 'offers')
  const bindings = new Bindings()
  const time = values.text('sort') === 'updated' ? 'o.updated_at_time' : 'o.created_at_time'
  const columns = { key: 'o.offer_id', cast: 'bigint', parameter: 'offer_id', date: time } as const
  const conditions = [
    ...accountConditions(values, bindings),
    ...stateCondition('o.state', values, bindings),
    ...memoConditions('o.memo', values, bindings),
    ...containedAssetConditions(ALL_ASSETS, contained, values, bindings),
    ...collectionConditions(values, bindings),
    ...sideConditions('o.sender_asset_ids', 'sender_asset', values, bindings),
    ...sideConditions('o.recipient_asset_ids', 'recipient_asset', values, bindings),
    ...contractConditions(values),
    ...hideContractsCondition('o.sender', 'o.recipient', values, bindings),
    ...boundaryConditions(values, columns, bindings),
  ]
  if (values.bool('hide_empty_offers') === true) {
    conditions.push(`o.sender_asset_ids <> '{}'`, `o.recipient_asset_ids <> '{}'`)
  }
  const order = `${time} ${directionOf(values)}, o.offer_id`
  return { key: 'o.offer_id', from: 'assets.offers o', conditions, order, bindings }
}

function accountConditions(values: Values, bindings: Bindings): string[] {
  const either = (list: readonly string[] | undefined): string[] => {
    if (!list) return []
    if (list.length === 0) return [NEVER]
    const accounts = bindings.bind(list, 'text[]')
    return [`(o.sender = ANY(${accounts}) OR o.recipient = ANY(${accounts}))`]
  }
  const black = values.texts('account_blacklist')
  return [
    ...either(values.texts('account')),
    ...either(values.texts('account_whitelist')),
    ...noneOf('o.sender', black, bindings),
    ...noneOf('o.recipient', black, bindings),
    ...oneOf('o.sender', values.texts('sender'), bindings),
    ...oneOf('o.recipient', values.texts('recipient'), bindings),
  ]
}

/** `state`: one or more numbers. @throws RequestError 400 for anything else. */
export function stateCondition(column: string, values: Values, bindings: Bindings): string[] {
  const text = values.text('state')
  if (text === undefined) return []
  const states = text.split(',')
  if (!states.every((state) => /^\d{1,4}$/.test(state))) throw invalidParameter('state')
  return [`${column} = ANY(${bindings.bind(states.map(Number), 'smallint[]')})`]
}

/** `memo` equals, `match_memo` is contained in any letter case. */
export function memoConditions(column: string, values: Values, bindings: Bindings): string[] {
  const memo = values.text('memo')
  const match = values.text('match_memo')
  return [
    ...(memo === undefined ? [] : [`${column} = ${bindings.bind(memo, 'text')}`]),
    ...(match === undefined ? [] : [contains(column, match, bindings)]),
  ]
}

/** The row itself names the collections of its assets; one without known assets passes the white-list. */
function collectionConditions(values: Values, bindings: Bindings): string[] {
  const wanted = values.texts('collection_name')
  const white = values.texts('collection_whitelist')
  const black = values.texts('collection_blacklist')
  const conditions: string[] = []
  if (wanted?.length === 0 || white?.length === 0) conditions.push(NEVER)
  else {
    if (wanted) conditions.push(`o.collection_names && ${bindings.bind(wanted, 'text[]')}`)
    if (white) {
      const list = bindings.bind(white, 'text[]')
      conditions.push(
        `(o.collection_names && ${list} OR o.collection_names = '{}')`,
        `o.collection_names <@ ${list}`,
      )
    }
  }
  if (black && black.length > 0)
    conditions.push(`NOT o.collection_names && ${bindings.bind(black, 'text[]')}`)
  return conditions
}

/** Lists of asset ids for one side: an empty side passes the white-list. */
function sideConditions(column: string, name: string, values: Values, bindings: Bindings): string[] {
  const white = values.ids(`${name}_whitelist`)
  const black = values.ids(`${name}_blacklist`)
  const conditions: string[] = []
  if (white) conditions.push(`${column} <@ ${bindings.bindIds(white)}`)
  if (black && black.length > 0) conditions.push(`NOT ${column} && ${bindings.bindIds(black)}`)
  return conditions
}

function contractConditions(values: Values): string[] {
  const wanted = values.bool('is_recipient_contract')
  if (wanted === undefined) return []
  const exists = 'EXISTS (SELECT FROM chain.code_accounts r WHERE r.account = o.recipient)'
  return [wanted ? exists : `NOT ${exists}`]
}
