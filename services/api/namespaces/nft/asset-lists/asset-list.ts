import type { Session } from '../../../database/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, ListReader } from '../../../planner/index.ts'
import type { Order } from '../../../planner/sources/index.ts'
import { resolveTemplates } from '../filters/index.ts'
import { assetFilters } from './asset-filters.ts'
import type { AssetRequest } from './asset-filters.ts'
import { assetOrder } from './asset-orders.ts'
import { ASSETS } from '../tables.ts'
import { assetSource } from './asset-source.ts'
import type { AssetValues } from '../parameters/index.ts'

/** A request for assets, before lookups. */
export interface AssetQuery {
  readonly session: Session
  readonly values: AssetValues
  readonly attributes: readonly AttributeFilter[]
}

/** A list of assets, and the input of its filters. */
export interface AssetList {
  readonly list: List
  readonly request: AssetRequest
}

/** The order of a request. */
type OrderOf = (request: AssetRequest, filters: readonly Filter[], session: Session) => Order | Promise<Order>

/**
 * The requested list of assets. One statement first resolves filters on templates to template ids.
 * @param orderOf returns the order; default: the sort of the request.
 */
export async function assetList(
  reader: ListReader,
  trigrams: boolean,
  { session, values, attributes }: AssetQuery,
  orderOf: OrderOf = assetOrder,
): Promise<AssetList> {
  const { statistics } = reader
  await statistics.refresh(session)
  const question = { values, attributes, trigrams }
  const templates = await resolveTemplates(session, question)
  const request = { ...question, templates, statistics }
  const filters = assetFilters(request)
  const order = await orderOf(request, filters, session)
  return { list: { source: assetSource(statistics), table: ASSETS, filters, order }, request }
}

/** The number of requested assets, as text. */
export async function countAssets(reader: ListReader, trigrams: boolean, query: AssetQuery): Promise<string> {
  const { list } = await assetList(reader, trigrams, query)
  return reader.count(query.session, list)
}
