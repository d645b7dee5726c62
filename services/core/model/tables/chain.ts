import { decoding, identity, reader } from '../column.ts'
import { keyedTable, sharedTable } from '../table.ts'

/** Tables that every reader writes, whatever its contracts. */
export const chainTables = {
  abis: sharedTable(
    'chain.abis',
    ['account', 'block_num'],
    { version: 'block_num', replaces: true },
    { account: decoding.text, block_num: decoding.integer, reader: reader.text, abi: decoding.bytes },
  ),
  codeAccounts: sharedTable(
    'chain.code_accounts',
    ['account'],
    { version: 'since_block', replaces: false },
    { account: decoding.text, since_block: decoding.integer, reader: reader.text },
  ),
} as const

/** The chain that the database belongs to. The first reader writes the row, and no reader changes the row. */
export const chainIdentity = keyedTable('chain.identity', ['chain_id'], { chain_id: identity.text })
