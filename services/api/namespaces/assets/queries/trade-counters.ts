import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { invalidParameter } from '../../../endpoint/index.ts'
import type { SqlValue } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import { collectionLists, oneOf } from './asset-conditions.ts'

/** Parameters that do not change how many rows match. */
const WITHOUT_EFFECT = new Set(['page', 'limit', 'order', 'sort', 'count'])
const OF_COLLECTIONS = ['collection_name', 'collection_whitelist', 'collection_blacklist']

/** The number of transfers from counters, as text; undefined when the filters are not those of a counter. */
export async function countTransfersFromCounters(context: EndpointContext): Promise<string | undefined> {
  const { values } = context
  if (!asksOnly(values, OF_COLLECTIONS)) return undefined
  const bindings = new Bindings()
  const conditions = [
    ...oneOf('k.collection_name', values.texts('collection_name'), bindings),
    ...collectionLists('k.collection_name', values, bindings),
  ]
  return one(
    context,
    `SELECT sum(k.transfers) FROM assets.transfer_counts k ${whereClause(conditions)}`,
    bindings,
  )
}

/**
 * The number of transfers of one account: what it sent and what it received. The contract lets nobody send to itself.
 * Undefined when the filters are others.
 */
export async function countTransfersOfAccount(context: EndpointContext): Promise<string | undefined> {
  const [account, ...others] = context.values.texts('account') ?? []
  if (account === undefined || others.length > 0 || !asksOnly(context.values, ['account'])) return undefined
  const bindings = new Bindings()
  const name = bindings.bind(account, 'text')
  const side = (column: string): string => `(SELECT count(*) FROM assets.transfers WHERE ${column} = ${name})`
  return one(context, `SELECT ${side('sender')} + ${side('recipient')}`, bindings)
}

/** The number of offers from counters, as text; undefined when the filters are not those of a counter. */
export async function countOffersFromCounters(context: EndpointContext): Promise<string | undefined> {
  if (!asksOnly(context.values, ['state'])) return undefined
  const bindings = new Bindings()
  const conditions = stateCondition('k.state', context.values, bindings)
  return one(context, `SELECT sum(k.offers) FROM assets.offer_counts k ${whereClause(conditions)}`, bindings)
}

/** @throws RequestError 400 for what is no list of numbers. */
function stateCondition(column: string, values: Values, bindings: Bindings): string[] {
  const text = values.text('state')
  if (text === undefined) return []
  const states = text.split(',')
  if (!states.every((state) => /^\d{1,4}$/.test(state))) throw invalidParameter('state')
  return [`${column} = ANY(${bindings.bind(states.map(Number), 'smallint[]')})`]
}

function asksOnly(values: Values, allowed: readonly string[]): boolean {
  return values.names().every((name) => WITHOUT_EFFECT.has(name) || allowed.includes(name))
}

async function one({ session }: EndpointContext, select: string, { values }: Bindings): Promise<string> {
  const rows = await session.query<[string | null] & readonly SqlValue[]>({
    text: `SELECT (${select})::text`,
    values,
  })
  return rows[0]![0] ?? '0'
}
