import { listTables } from '../table.ts'
import type { Table } from '../table.ts'
import { assetsTables } from './assets.ts'
import { chainIdentity, chainTables } from './chain.ts'
import { marketTables } from './market.ts'
import { oracleTables } from './oracle.ts'
import { stateTables } from './state.ts'
import { toolsTables } from './tools.ts'

/**
 * Every table with data of the chain, and the tables that every reader writes (ABIs, accounts with code, identity of
 * the chain).
 */
export const modelTables: readonly Table[] = [
  ...listTables(assetsTables),
  ...listTables(oracleTables),
  ...listTables(marketTables),
  ...listTables(toolsTables),
  ...listTables(stateTables),
  ...listTables(chainTables),
  ...listTables({ chainIdentity }),
]
