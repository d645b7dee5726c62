import { historyTable, versionedTable } from '../../rows/table.ts'

/** Row of state.coverage. */
export interface CoverageRow {
  reader: string
  accounts: readonly string[]
  permissions: boolean
  since_block: number
  history_from: number
}

/** Row of state.blocks. */
export interface BlockRow {
  block_num: number
  reader: string
  block_time: number
  block_id: Uint8Array
}

/** Row of state.tables. */
export interface TableRow {
  account: string
  table_name: string
  since_block: number
  reader: string
}

/** Row of state.rows; `primary_key` is less by 2^63. */
export interface RowRow {
  account: string
  table_name: string
  scope: string
  primary_key: bigint
  since_block: number
  payer: string
  value: Uint8Array
}

/** Row of state.links. */
export interface LinkRow {
  account: string
  contract: string
  action: string
  since_block: number
  permission: string
}

/** Row of state.permissions. */
export interface PermissionRow {
  account: string
  permission: string
  since_block: number
  keys: readonly string[]
}

/** The tables of the stored state. */
export const tables = {
  coverage: versionedTable<CoverageRow>('state.coverage', ['reader'], 'since_block', true),
  blocks: versionedTable<BlockRow>('state.blocks', ['block_num'], 'block_num', true),
  tables: versionedTable<TableRow>('state.tables', ['account', 'table_name'], 'since_block', false),
  rows: historyTable<RowRow>('state.rows', 'state.past_rows', [
    'account',
    'table_name',
    'scope',
    'primary_key',
  ]),
  links: historyTable<LinkRow>('state.links', 'state.past_links', ['account', 'contract', 'action']),
  permissions: historyTable<PermissionRow>('state.permissions', 'state.past_permissions', [
    'account',
    'permission',
  ]),
} as const
