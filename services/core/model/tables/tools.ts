import { action, block, orNull, row, rule } from '../column.ts'
import { appendTable, counterTable, keyedTable } from '../table.ts'

/**
 * The tables of the tools family. An upsert of a claim link does not overwrite the block in which the link was
 * announced, nor the columns derived from the assets of the announcement.
 */
export const toolsTables = {
  config: keyedTable('tools.config', ['contract'], {
    contract: row.text,
    version: row.text,
    assets_contract: row.text,
    link_counter: row.numeric,
  }),
  links: keyedTable(
    'tools.links',
    ['link_id'],
    {
      link_id: row.bigint,
      created_at_time: block.time,
      updated_at_time: block.time,
      created_at_block: block.integer,
      updated_at_block: block.integer,
      state: row.smallint,
      has_unknown_assets: rule.boolean,
      creator: row.text,
      claimer: orNull(action.text),
      public_key: row.text,
      claimer_signature: orNull(action.text),
      memo: row.text,
      asset_ids: row.bigints,
      collection_names: rule.texts,
    },
    ['created_at_time', 'created_at_block', 'has_unknown_assets', 'collection_names'],
  ),
  linkCounts: counterTable('tools.link_counts', ['state'], { state: rule.smallint, links: rule.bigint }),
  blocks: appendTable('tools.blocks', 'first_seq', {
    first_seq: block.bigint,
    block_time: block.time,
    block_num: block.integer,
    tx_offsets: block.integers,
    txids: block.bytes,
  }),
  logs: appendTable('tools.logs', 'seq', {
    seq: action.bigint,
    subject: action.bigint,
    action: action.smallint,
  }),
} as const
