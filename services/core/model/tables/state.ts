import { reader, state } from '../column.ts'
import { historyTable, versionedTable } from '../table.ts'

/** Tables of the stored chain state. */
export const stateTables = {
  coverage: versionedTable(
    'state.coverage',
    ['reader'],
    { version: 'since_block', replaces: true },
    {
      reader: reader.text,
      accounts: reader.texts,
      permissions: reader.boolean,
      since_block: reader.integer,
      history_from: reader.integer,
    },
  ),
  blocks: versionedTable(
    'state.blocks',
    ['block_num'],
    { version: 'block_num', replaces: true },
    { block_num: reader.integer, reader: reader.text, block_time: reader.time, block_id: reader.bytes },
  ),
  tables: versionedTable(
    'state.tables',
    ['account', 'table_name'],
    { version: 'since_block', replaces: false },
    { account: reader.text, table_name: reader.text, since_block: reader.integer, reader: reader.text },
  ),
  rows: historyTable('state.rows', 'state.past_rows', ['account', 'table_name', 'scope', 'primary_key'], {
    account: state.text,
    table_name: state.text,
    scope: state.text,
    /** Primary key minus 2^63: bigint is signed, and the order of keys stays the same. */
    primary_key: state.bigint,
    since_block: state.integer,
    payer: state.text,
    value: state.bytes,
  }),
  links: historyTable('state.links', 'state.past_links', ['account', 'contract', 'action'], {
    account: state.text,
    contract: state.text,
    action: state.text,
    since_block: state.integer,
    permission: state.text,
  }),
  permissions: historyTable('state.permissions', 'state.past_permissions', ['account', 'permission'], {
    account: state.text,
    permission: state.text,
    since_block: state.integer,
    keys: state.texts,
  }),
} as const
