import { ListReader, Statistics } from '../../../planner/index.ts'
import type { ChoosePath } from '../../../planner/index.ts'

/** Tables of the assets family whose statistics give the row estimates of lists. */
const listedTables = [
  ...['assets.assets', 'assets.schemas', 'assets.templates', 'assets.backed_tokens', 'assets.collections'],
  ...['assets.transfers', 'assets.offers', 'assets.blocks'],
]

/**
 * Columns with the attributes of assets. Row estimates of attribute filters use PostgreSQL's samples of these columns.
 */
const attributes = ['assets.assets.immutable_data', 'assets.assets.mutable_data']

/**
 * Creates the list reader of a namespace.
 * @param tables further tables for row estimates. @param choose chooses the access path; tests force one.
 */
export function createListReader(tables: readonly string[] = [], choose?: ChoosePath): ListReader {
  return new ListReader(new Statistics([...listedTables, ...tables], attributes), choose)
}
