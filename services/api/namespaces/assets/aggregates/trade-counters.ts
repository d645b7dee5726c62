import { bind, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { invalidParameter } from '../../../request/index.ts'
import { inCollections } from '../../nft/conditions/index.ts'
import { sumOf } from './sum.ts'
import type { OfferValues, TransferValues } from '../parameters.ts'

/**
 * Parameters that do not change the number of matching transfers or offers, such as the page. A request with such a
 * parameter can be counted from counters.
 */
const withoutEffect = new Set(['page', 'limit', 'order', 'sort', 'count'])
const ofCollections = ['collection_name', 'collection_whitelist', 'collection_blacklist']

/**
 * Number of transfers that match the request, summed from the counters of transfers, as text. Undefined if the counters
 * do not cover every filter.
 */
export async function countTransfersFromCounters({
  session,
  values,
}: EndpointContext<TransferValues>): Promise<string | undefined> {
  if (!asksOnly(values, ofCollections)) return undefined
  const conditions = inCollections('k.collection_name', values)
  return sumOf(session, sql`SELECT sum(k.transfers) FROM assets.transfer_counts k ${where(conditions)}`)
}

/**
 * Number of transfers that one account sent or received. No transfer counts twice, because the contract forbids
 * transfers from an account to itself. Undefined unless one account is the only filter of the request.
 */
export async function countTransfersOfAccount({
  session,
  values,
}: EndpointContext<TransferValues>): Promise<string | undefined> {
  const [account, ...others] = values.account ?? []
  if (account === undefined || others.length > 0 || !asksOnly(values, ['account'])) return undefined
  const name = bind(account, 'text')
  return sumOf(
    session,
    sql`SELECT (SELECT count(*) FROM assets.transfers WHERE sender = ${name}) +
      (SELECT count(*) FROM assets.transfers WHERE recipient = ${name})`,
  )
}

/**
 * Number of offers that match the request, summed from the counters of offers, as text. Undefined if the counters do
 * not cover every filter.
 */
export async function countOffersFromCounters({
  session,
  values,
}: EndpointContext<OfferValues>): Promise<string | undefined> {
  if (!asksOnly(values, ['state'])) return undefined
  return sumOf(session, sql`SELECT sum(k.offers) FROM assets.offer_counts k ${where(hasState(values))}`)
}

/** Condition of the parameter `state`. @throws RequestError 400 if `state` is not a list of numbers. */
function hasState(values: OfferValues): Sql[] {
  const states = values.state
  if (states === undefined) return []
  if (!states.every((state) => /^\d{1,4}$/.test(state))) throw invalidParameter('state')
  return [sql`k.state = ANY(${bind(states.map(Number), 'smallint[]')})`]
}

function asksOnly(values: object, allowed: readonly string[]): boolean {
  return Object.keys(values).every((name) => withoutEffect.has(name) || allowed.includes(name))
}
