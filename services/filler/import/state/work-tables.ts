import type { ContractTable } from './contract-tables.ts'

/** DDL of the work tables of a state import, in the schema `import`. The import drops this schema when it finishes. */
export function workTables(tables: readonly ContractTable[]): string[] {
  return [
    // Scope ranges of the contract tables, one per row: from the scope `first` up to but excluding `next`. The rows of
    // the range before `scope` and `key` are staged; reading continues at `scope` and `key`.
    `CREATE TABLE import.pages (
      page integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, stage text NOT NULL, first numeric NOT NULL, next numeric,
      scope text, key text, is_done boolean NOT NULL DEFAULT false, row_count bigint NOT NULL DEFAULT 0, UNIQUE (stage, first))`,
    // `page_blocks`: the blocks that were the node's head when the node returned rows of a scope range. `blocks`: the
    // irreversible blocks that were read since the import started.
    `CREATE TABLE import.page_blocks (page integer, num integer, id bytea, PRIMARY KEY (page, num, id))`,
    `CREATE TABLE import.blocks (num integer PRIMARY KEY, id bytea NOT NULL, time_ms bigint NOT NULL)`,
    // Contract rows that changed in the blocks since the import started. A removed row has its last value before the
    // removal.
    `CREATE TABLE import.changes (
      stage text COLLATE "C", scope text COLLATE "C", primary_key bigint, block_num integer NOT NULL, is_present boolean NOT NULL,
      value bytea NOT NULL, PRIMARY KEY (stage, primary_key, scope))`,
    // Column values that actions gave to rows in the blocks since the import started, by table (`name`) and key.
    `CREATE TABLE import.operations (name text COLLATE "C", key bigint, row jsonb NOT NULL, is_whole boolean NOT NULL, PRIMARY KEY (name, key))`,
    ...tables.map(
      ({ stage }) =>
        `CREATE TABLE ${stage} (page integer NOT NULL, scope text COLLATE "C" NOT NULL, primary_key bigint NOT NULL, value bytea NOT NULL)`,
    ),
  ]
}
