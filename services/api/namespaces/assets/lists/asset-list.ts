import type { Session } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { List, ListReader } from '../../../lists/index.ts'
import { pageWindow } from '../../paging/index.ts'
import { resolveTemplates } from '../queries/template-conditions.ts'
import { assetFilters } from './asset-filters.ts'
import { assetOrder } from './asset-orders.ts'
import { ASSETS, assetSource } from './asset-source.ts'

/** A request for assets, before anything was looked up. */
export interface AssetQuestion {
  readonly session: Session
  readonly values: Values
  readonly attributes: readonly AttributeFilter[]
}

/** The list of assets that a request asks for. Filters on templates are resolved to templates by a statement of their own. */
export async function assetList(
  reader: ListReader,
  trigrams: boolean,
  { session, values, attributes }: AssetQuestion,
): Promise<List> {
  const { statistics } = reader
  await statistics.refresh(session)
  const templates = await resolveTemplates(session, values, attributes, trigrams)
  const request = { values, attributes, trigrams, templates, statistics }
  const filters = assetFilters(request)
  return { source: assetSource(statistics), table: ASSETS, filters, order: assetOrder(request, filters) }
}

/** The ids of a page of assets, as text. */
export async function assetPage(
  reader: ListReader,
  trigrams: boolean,
  question: AssetQuestion,
): Promise<string[]> {
  const window = pageWindow(question.values)
  if (!window) return []
  return reader.keys(question.session, await assetList(reader, trigrams, question), window)
}

/** The number of assets that a request asks for, as text. */
export async function countAssets(
  reader: ListReader,
  trigrams: boolean,
  question: AssetQuestion,
): Promise<string> {
  return reader.count(question.session, await assetList(reader, trigrams, question))
}
