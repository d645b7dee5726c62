import { assetsTables } from '../../handlers/assets/index.ts'
import { marketTables } from '../../handlers/market/index.ts'
import { toolsTables } from '../../handlers/tools/index.ts'
import type { KeyedTable } from '../../rows/table.ts'

/** A table whose rows actions create and change: the contract's rows alone do not contain all columns. */
export interface EntityTable {
  readonly family: string
  /** Table of the contract. */
  readonly contractTable: string
  readonly table: KeyedTable<object>
  /** Key column; an integer. */
  readonly key: string
}

function entity<R extends object>(family: string, contractTable: string, table: KeyedTable<R>): EntityTable {
  return { family, contractTable, table: table as unknown as KeyedTable<object>, key: table.key[0]! }
}

/** These tables, each after those that its rows refer to. */
export const entityTables: readonly EntityTable[] = [
  entity('assets', 'templates', assetsTables.templates),
  entity('assets', 'assets', assetsTables.assets),
  entity('assets', 'offers', assetsTables.offers),
  entity('market', 'sales', marketTables.sales),
  entity('market', 'auctions', marketTables.auctions),
  entity('market', 'buyoffers', marketTables.buyoffers),
  entity('market', 'tbuyoffers', marketTables.templateBuyoffers),
  entity('tools', 'links', toolsTables.links),
]
