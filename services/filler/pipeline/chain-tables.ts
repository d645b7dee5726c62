import { sharedTable } from '../rows/table.ts'

/** Row of chain.abis. */
export interface AbiRow {
  account: string
  block_num: number
  reader: string
  abi: Uint8Array
}

/** Row of chain.code_accounts. */
export interface CodeAccountRow {
  account: string
  since_block: number
  reader: string
}

/** Tables that every reader writes, whatever its contracts. */
export const chainTables = {
  abis: sharedTable<AbiRow>('chain.abis', ['account', 'block_num'], 'block_num', true),
  codeAccounts: sharedTable<CodeAccountRow>('chain.code_accounts', ['account'], 'since_block', false),
} as const
