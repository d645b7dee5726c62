import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { invalidParameter } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { boundaryConditions, directionOf } from '../../paging/index.ts'
import { NEVER, noneOf, oneOf } from './asset-conditions.ts'
import { expectedRows } from './contained-assets.ts'
import {
  containedAssetConditions,
  findContainedAssets,
  hideContractsCondition,
  namedAssets,
  rowsWithAssets,
} from './contained-assets.ts'
import { contains } from './text-match.ts'

const ALL_ASSETS = '(o.sender_asset_ids || o.recipient_asset_ids)'

/** The page of offers that a request asks for; keys are offer ids. */
export async function offerQuery(session: Session, values: Values): Promise<PageQuery> {
  const direction = directionOf(values)
  const contained = await findContainedAssets(session, values, 'offers', direction)
  const bindings = new Bindings()
  const isOfFew = await areOfFewOffers(session, values)
  const time = values.text('sort') === 'updated' ? 'o.updated_at_time' : 'o.created_at_time'
  const columns = { key: 'o.offer_id', cast: 'bigint', parameter: 'offer_id', date: time } as const
  const conditions = [
    ...accountConditions(values, bindings),
    ...stateCondition('o.state', values, bindings),
    ...memoConditions('o.memo', values, bindings),
    ...containedAssetConditions(
      ALL_ASSETS,
      contained.kind === 'few' ? { kind: 'any' } : contained,
      values,
      bindings,
    ),
    ...(contained.kind === 'many' ? schemaCollections(values, bindings) : []),
    ...(contained.kind === 'many' && contained.since !== undefined
      ? [`${time} >= ${bindings.bind(contained.since, 'bigint')}`]
      : []),
    ...(isOfFew ? [] : collectionConditions(values, bindings)),
    ...sideConditions('o.sender_asset_ids', 'sender_asset', values, bindings),
    ...sideConditions('o.recipient_asset_ids', 'recipient_asset', values, bindings),
    ...contractConditions(values),
    ...hideContractsCondition('o.sender', 'o.recipient', values, bindings),
    ...boundaryConditions(values, columns, bindings),
  ]
  if (values.bool('hide_empty_offers') === true) {
    conditions.push(`o.sender_asset_ids <> '{}'`, `o.recipient_asset_ids <> '{}'`)
  }
  const order = `${time} ${direction}, o.offer_id`
  const query = { key: 'o.offer_id', conditions, order, bindings }
  const named = namedAssets(contained, values)
  if (named) {
    const all = '(x.sender_asset_ids || x.recipient_asset_ids)'
    return { ...query, from: `${rowsWithAssets(OFFERS, 'offer_id', all, named, bindings)} o` }
  }
  const given = values.ids('sender_asset_whitelist')
  if (given) return givingOnly(given, query)
  const all = { ...query, from: isOfFew ? ofCollections(values, bindings) : `${OFFERS} o` }
  // How many offers a few contracts have got, nothing but looking tells.
  return values.bool('is_recipient_contract') === true
    ? { ...all, attempts: [{ ...query, from: firstOffers(order) }] }
    : all
}

const OFFERS = 'assets.offers'
/** Offers of collections up to which they are all read and sorted: those of one could all be late in the order. */
const FEW_TO_SORT = 6_000

const BESIDE_COLLECTIONS: ReadonlySet<string> = new Set([
  ...['page', 'limit', 'sort', 'order', 'collection_name', 'collection_whitelist', 'collection_blacklist'],
])

/** Whether collections are asked for, and nothing else that finds offers, and these have few. */
async function areOfFewOffers(session: Session, values: Values): Promise<boolean> {
  const isAlone = values.names().every((name) => BESIDE_COLLECTIONS.has(name))
  const wanted = values.texts('collection_name')
  const white = values.texts('collection_whitelist')
  if (!isAlone || !(wanted ?? white)) return false
  const bindings = new Bindings()
  // Not of all conditions, which the planner takes to have nothing to do with each other.
  const conditions = wanted ? [isOfAny(wanted, bindings)] : [mayBeOfAny(white!, bindings)]
  return (await expectedRows(session, conditions, bindings, `${OFFERS} o`)) <= FEW_TO_SORT
}

/** OFFSET 0 keeps the order out of how they are found. */
function ofCollections(values: Values, bindings: Bindings): string {
  return `(SELECT o.* FROM ${OFFERS} o ${whereClause(collectionConditions(values, bindings))} OFFSET 0) o`
}

/** Offers that are looked at in their order before all those that may match are sorted. */
const STRETCH = 2_000

function firstOffers(order: string): string {
  return `(SELECT o.* FROM ${OFFERS} o ORDER BY ${order} LIMIT ${STRETCH}) o`
}

/**
 * Offers whose sender gives nothing but some assets: most offers give something, and so few give these that they are
 * found by the assets, unless many offers give nothing.
 */
function givingOnly(assets: readonly bigint[], query: Omit<PageQuery, 'from'>): PageQuery {
  const { order, bindings } = query
  const list = bindings.bindIds(assets)
  const all = `(SELECT o.* FROM ${OFFERS} o
    WHERE ${ALL_ASSETS} && ${list} OR o.sender_asset_ids = '{}' OFFSET 0) o`
  const conditions = [...query.conditions, `o.sender_asset_ids <@ ${list}`]
  return { ...query, from: all, attempts: [{ ...query, conditions, from: firstOffers(order) }] }
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
  // Only of one state the index has the order of the list.
  return states.length === 1
    ? [`${column} = ${bindings.bind(Number(text), 'smallint')}`]
    : [`${column} = ANY(${bindings.bind(states.map(Number), 'smallint[]')})`]
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

/**
 * The collections that have a schema of the name: the row names its own, so most need no look at their assets. Most name
 * one, which is looked up in a hash: a list would be compared one by one.
 */
function schemaCollections(values: Values, bindings: Bindings): string[] {
  const [named] = oneOf('s.schema_name', values.texts('schema_name'), bindings)
  if (named === undefined) return []
  const homes = `SELECT s.collection_name FROM assets.schemas s WHERE ${named}`
  return [
    `(o.collection_names[1] IN (${homes}) OR (o.collection_names[2] IS NOT NULL AND o.collection_names && ARRAY(${homes})))`,
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
    if (wanted) conditions.push(isOfAny(wanted, bindings))
    if (white) {
      const only = `o.collection_names <@ ${bindings.bind(white, 'text[]')}`
      conditions.push(mayBeOfAny(white, bindings), only)
    }
  }
  if (black && black.length > 0) conditions.push(`NOT ${isOfAny(black, bindings)}`)
  return conditions
}

function isOfAny(collections: readonly string[], bindings: Bindings): string {
  return `o.collection_names && ${bindings.bind(collections, 'text[]')}`
}

function mayBeOfAny(collections: readonly string[], bindings: Bindings): string {
  return `(${isOfAny(collections, bindings)} OR o.collection_names = '{}')`
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
