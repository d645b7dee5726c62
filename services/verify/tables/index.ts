import { assetsTables } from './assets.ts'
import { marketTables } from './market.ts'
import { oracleTables } from './oracle.ts'
import type { VerifiedTable } from './table.ts'
import { toolsTables } from './tools.ts'
export { labelOf, placesOf } from './table.ts'
export type {
  ComparedRow,
  Place,
  RowContext,
  VerifiedTable,
  Children,
  Column,
  RowValues,
  ChainRow,
  FormatField,
  Family,
} from './table.ts'

/** Every table that is compared with the chain. */
export const verifiedTables: readonly VerifiedTable[] = [
  ...assetsTables,
  ...marketTables,
  ...oracleTables,
  ...toolsTables,
]
