import { bind, bindIds, raw, sql } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { invalidParameter } from '../../../request/index.ts'
import { nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, ListReader, Statistics } from '../../../planner/index.ts'
import type { Source } from '../../../planner/sources/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import { boundaryFilters } from '../../nft/filters/index.ts'
import { isNoneOf, wantedCollections } from '../../nft/conditions/index.ts'
import { containedFilters, resolveContained } from './contained-assets.ts'
import type { ContainingTable } from './contained-assets.ts'
import { partyFilters } from './party-filters.ts'
import type { OfferValues } from '../parameters.ts'

/** Schema-qualified name of the table of offers. `Statistics` stores row estimates by this name. */
const OFFERS = 'assets.offers'

const offerSource: Source = {
  from: raw('assets.offers o'),
  alias: 'o',
  key: 'offer_id',
  indexes: [
    { name: 'offers_pkey', columns: ['offer_id'] },
    { name: 'offers_created_idx', columns: ['created_at_time', 'offer_id'] },
    { name: 'offers_updated_idx', columns: ['updated_at_time', 'offer_id'] },
    { name: 'offers_state_idx', columns: ['state', 'created_at_time', 'offer_id'] },
    { name: 'offers_state_updated_idx', columns: ['state', 'updated_at_time', 'offer_id'] },
    { name: 'offers_sender_idx', columns: ['sender', 'created_at_time', 'offer_id'] },
    { name: 'offers_recipient_idx', columns: ['recipient', 'created_at_time', 'offer_id'] },
  ],
}

/** Approximate shares of the offers that match a filter. PostgreSQL has no statistics for these filters. */
const shares = { givingNothing: 0.001, takingNothing: 0.5, swaps: 0.2, toContracts: 0.2, overlapping: 0.01 }

/**
 * SQL of the ids of all assets of an offer. The text equals the expression in the index offers_contents_idx, so that
 * PostgreSQL uses the index. Two numbers in the list are marks, not asset ids: 0 if the sender gives nothing, -1 if
 * both sides give assets.
 */
function contentsOf(alias: string): Sql {
  const [sender, recipient] = [`${alias}.sender_asset_ids`, `${alias}.recipient_asset_ids`]
  return raw(`((CASE WHEN ${sender} = '{}' THEN '{0}'::bigint[] WHEN ${recipient} = '{}' THEN ${sender}
    ELSE ${sender} || (-1)::bigint END) || ${recipient})`)
}

/** List of the requested offers. */
export async function offerList(reader: ListReader, session: Session, values: OfferValues): Promise<List> {
  const { statistics } = reader
  await statistics.refresh(session)
  const contained = await resolveContained(session, values, statistics, false)
  const containing: ContainingTable = {
    table: OFFERS,
    alias: 'o',
    key: 'offer_id',
    ids: contentsOf,
    ofCollections: (names) => ofCollections('collection_name', names, statistics),
    atOnce: 16,
  }
  const time = values.sort === 'updated' ? 'updated_at_time' : 'created_at_time'
  const filters = [
    ...containedFilters(values, contained, statistics, containing),
    ...partyFilters(values, statistics, { table: OFFERS, alias: 'o' }),
    ...blacklistFilter(values, statistics),
    ...stateFilter(values, statistics),
    ...collectionFilters(values, statistics),
    ...sideFilters(values, statistics),
    ...contractFilter(values, statistics),
    ...boundaryFilters(
      values,
      statistics,
      {
        table: OFFERS,
        alias: 'o',
        key: 'offer_id',
        type: 'bigint',
        time: { column: time },
      },
      values.offer_id,
    ),
  ]
  const order = { direction: directionOf(values), segments: [{ rank: 0, column: time }] }
  return { source: offerSource, table: OFFERS, filters, order }
}

function blacklistFilter(values: OfferValues, statistics: Statistics): Filter[] {
  const black = values.account_blacklist
  if (!black || black.length === 0) return []
  const named = statistics.equal(OFFERS, 'sender', black) + statistics.equal(OFFERS, 'recipient', black)
  return [
    {
      name: 'account_blacklist',
      condition: sql`${isNoneOf(raw('o.sender'), black)} AND ${isNoneOf(raw('o.recipient'), black)}`,
      rows: Math.max(1, statistics.rows(OFFERS) - named),
      columns: ['sender', 'recipient'],
      isIndexed: false,
    },
  ]
}

/**
 * Filter of the parameter `state`: one or more numbers of states.
 * @throws RequestError 400 if a value is not a number.
 */
function stateFilter(values: OfferValues, statistics: Statistics): Filter[] {
  const given = values.state
  if (given === undefined) return []
  if (!given.every((state) => /^\d{1,4}$/.test(state))) throw invalidParameter('state')
  const states = [...new Set(given.map(Number))]
  const filter = { name: 'state', rows: statistics.equal(OFFERS, 'state', states), columns: ['state'] }
  // The index on asset ids finds the few offers with the requested assets. `+ 0` keeps PostgreSQL from the index on
  // states, which would return all offers in the requested states.
  if (values.asset_id && values.asset_id.length > 0) {
    const condition = sql`(o.state + 0) = ANY(${bind(states, 'integer[]')})`
    return [{ ...filter, condition, isIndexed: false }]
  }
  return [
    {
      ...filter,
      condition:
        states.length === 1
          ? sql`o.state = ${bind(states[0]!, 'smallint')}`
          : sql`o.state = ANY(${bind(states, 'smallint[]')})`,
      equals: { column: 'state', values: states, type: 'smallint', count: states.length },
      isIndexed: true,
    },
  ]
}

/**
 * Filters on the collections of the offered assets, which the row of an offer stores. An offer passes the white-list if
 * every known asset of the offer belongs to a listed collection. Assets that the database does not know are ignored.
 */
function collectionFilters(values: OfferValues, statistics: Statistics): Filter[] {
  const { collection_whitelist: white, collection_blacklist: black } = values
  const wanted = wantedCollections({ ...values, collection_whitelist: undefined })
  const filters: Filter[] = []
  if (wanted) filters.push(ofCollections('collection_name', wanted, statistics))
  if (white) {
    const any = ofCollections('collection_whitelist', white, statistics)
    const only = sql`o.collection_names <@ ${bind(white, 'text[]')}`
    filters.push(
      white.length === 0
        ? any
        : {
            ...any,
            condition: sql`${only} AND (${any.condition} OR o.collection_names = '{}')`,
            rows: any.rows + statistics.rows(OFFERS) * shares.overlapping,
          },
    )
  }
  if (black && black.length > 0) {
    const any = ofCollections('collection_blacklist', black, statistics)
    filters.push({
      name: 'collection_blacklist',
      condition: sql`NOT ${any.condition}`,
      rows: Math.max(1, statistics.rows(OFFERS) - any.rows),
      columns: ['collection_names'],
      isIndexed: false,
    })
  }
  return filters
}

function ofCollections(name: string, collections: readonly string[], statistics: Statistics): Filter {
  if (collections.length === 0) return nothing(name)
  const each = collections.map((collection) => statistics.containing(OFFERS, 'collection_names', collection))
  return {
    name,
    condition: sql`o.collection_names && ${bind(collections, 'text[]')}`,
    rows: Math.min(
      statistics.rows(OFFERS),
      each.reduce((sum, rows) => sum + rows, 0),
    ),
    columns: ['collection_names'],
    isIndexed: true,
    group: 'contained',
  }
}

/**
 * Filters on the assets that the sender of an offer gives, and on the assets that the recipient gives. A side that
 * gives no asset passes every white-list.
 */
function sideFilters(values: OfferValues, statistics: Statistics): Filter[] {
  const all = statistics.rows(OFFERS)
  const filters = (['sender', 'recipient'] as const).flatMap((side) => {
    const column = `${side}_asset_ids`
    const white = values[`${side}_asset_whitelist` as const]
    const black = values[`${side}_asset_blacklist` as const]
    const own: Filter[] = []
    if (white) {
      const only = sql`${raw(`o.${column}`)} <@ ${bindIds(white)}`
      const isSender = side === 'sender'
      own.push({
        name: `${side}_asset_whitelist`,
        condition: only,
        // `sender_asset_whitelist` also passes offers whose sender gives nothing. The index on the contents of offers
        // has the number 0 for these offers, so the index scan searches for 0 and the listed assets. Few offers match:
        // the white-list has few assets, and few senders give nothing.
        ...(isSender
          ? {
              found: sql`${contentsOf('o')} && ${bindIds([0n, ...white.filter((id) => id > 0n)])} AND ${only}`,
            }
          : {}),
        rows: isSender ? all * shares.givingNothing + white.length : all * shares.takingNothing,
        columns: [column],
        isIndexed: isSender,
      })
    }
    if (black && black.length > 0) {
      own.push({
        name: `${side}_asset_blacklist`,
        condition: sql`NOT ${raw(`o.${column}`)} && ${bindIds(black)}`,
        rows: Math.max(1, all * (1 - shares.overlapping)),
        columns: [column],
        isIndexed: false,
      })
    }
    return own
  })
  if (values.hide_empty_offers === true) {
    filters.push({
      name: 'hide_empty_offers',
      condition: raw(`o.sender_asset_ids <> '{}' AND o.recipient_asset_ids <> '{}'`),
      found: sql`${contentsOf('o')} && '{-1}'::bigint[]`,
      rows: all * shares.swaps,
      columns: ['sender_asset_ids', 'recipient_asset_ids'],
      isIndexed: true,
    })
  }
  return filters
}

function contractFilter(values: OfferValues, statistics: Statistics): Filter[] {
  const wanted = values.is_recipient_contract
  if (wanted === undefined) return []
  const exists = raw('EXISTS (SELECT FROM chain.code_accounts r WHERE r.account = o.recipient OFFSET 0)')
  const share = wanted ? shares.toContracts : 1 - shares.toContracts
  return [
    {
      name: 'is_recipient_contract',
      condition: wanted ? exists : sql`NOT ${exists}`,
      ...(wanted
        ? { found: raw('o.recipient = ANY(ARRAY(SELECT r.account FROM chain.code_accounts r))') }
        : {}),
      rows: statistics.rows(OFFERS) * share,
      isIndexed: wanted,
      visits: 0.5,
    },
  ]
}
