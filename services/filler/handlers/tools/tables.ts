import type { BlockRow } from '../block-transactions.ts'
import { appendTable, counterTable, keyedTable } from '../../rows/table.ts'

/** Row of tools.config. */
export interface ConfigRow {
  contract: string
  version: string
  assets_contract: string
  link_counter: bigint
}

/** Row of tools.links. */
export interface LinkRow {
  link_id: bigint
  created_at_time: number
  updated_at_time: number
  created_at_block: number
  updated_at_block: number
  state: number
  has_unknown_assets: boolean
  creator: string
  claimer: string | null
  public_key: string
  claimer_signature: string | null
  memo: string
  asset_ids: readonly bigint[]
  collection_names: readonly string[]
}

/** Row of tools.link_counts. */
export interface LinkCountRow {
  state: number
  links: bigint
}

/** Row of tools.logs. */
export interface LogRow {
  seq: bigint
  subject: bigint
  action: number
}

/** The tables of the tools family. The columns of the announcement and those derived from it never change. */
export const tables = {
  config: keyedTable<ConfigRow>('tools.config', ['contract']),
  links: keyedTable<LinkRow>(
    'tools.links',
    ['link_id'],
    ['created_at_time', 'created_at_block', 'has_unknown_assets', 'collection_names'],
  ),
  linkCounts: counterTable<LinkCountRow>('tools.link_counts', ['state'], ['links']),
  blocks: appendTable<BlockRow>('tools.blocks', 'first_seq'),
  logs: appendTable<LogRow>('tools.logs', 'seq'),
} as const
