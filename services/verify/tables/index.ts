import { assetsTables } from './assets.ts'
import { marketTables } from './market.ts'
import { oracleTables } from './oracle.ts'
import type { VerifiedTable } from './table.ts'
import { toolsTables } from './tools.ts'

/** Every table that is compared with the chain. */
export const verifiedTables: readonly VerifiedTable[] = [
  ...assetsTables,
  ...marketTables,
  ...oracleTables,
  ...toolsTables,
]

export { labelOf } from './table.ts'
export type {
  ChainRow,
  Children,
  Column,
  ComparedRow,
  Family,
  FormatField,
  Place,
  RowContext,
  RowValues,
  VerifiedTable,
} from './table.ts'
