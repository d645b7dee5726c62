export { assetsContract } from './assets.ts'
export { marketContract } from './market.ts'
export { oracleContract } from './oracle.ts'
export { toolsContract } from './tools.ts'
export { readColumns, scope } from './contract-table.ts'
export type {
  ChildRows,
  ContractRow,
  ContractTable,
  Family,
  FormatField,
  Formats,
  TypedContractTable,
} from './contract-table.ts'
