import { assetsTables, marketTables, toolsTables } from '../../../core/model/tables/index.ts'
import type { KeyedTable } from '../../../core/model/index.ts'
import {
  assetRows,
  auctionRows,
  buyofferRows,
  linkRows,
  offerRows,
  saleRows,
  templateBuyofferRows,
  templateRows,
} from './entity-rows.ts'
import type { EntityRows } from './entity-rows.ts'

/** A database table whose columns come partly from the contract's row and partly from actions. */
export interface EntityTable {
  readonly family: string
  /** Name of the contract table. */
  readonly contractTable: string
  readonly table: KeyedTable<object>
  /** Name of the integer key column. */
  readonly key: string
  /** Row converter, with the row type erased: the list below mixes tables of different types. */
  readonly rows: EntityRows<Record<string, unknown>>
}

function entity<Row extends object>(
  family: string,
  contractTable: string,
  table: KeyedTable<Row>,
  rows: EntityRows<NoInfer<Row>>,
): EntityTable {
  const untyped = { table, rows } as unknown as Pick<EntityTable, 'table' | 'rows'>
  return { family, contractTable, key: table.key[0]!, ...untyped }
}

/** Entity tables, each after the tables that its rows refer to. */
export const entityTables: readonly EntityTable[] = [
  entity('assets', 'templates', assetsTables.templates, templateRows),
  entity('assets', 'assets', assetsTables.assets, assetRows),
  entity('assets', 'offers', assetsTables.offers, offerRows),
  entity('market', 'sales', marketTables.sales, saleRows),
  entity('market', 'auctions', marketTables.auctions, auctionRows),
  entity('market', 'buyoffers', marketTables.buyoffers, buyofferRows),
  entity('market', 'tbuyoffers', marketTables.templateBuyoffers, templateBuyofferRows),
  entity('tools', 'links', toolsTables.links, linkRows),
]
