import type { ContractTable } from './contract-tables.ts'

/** The tables of the schema `import` that an import of the state works with. */
export function workTables(tables: readonly ContractTable[]): string[] {
  return [
    // Scopes from `first` to before `next`; `scope` and `key` say how far their rows are there.
    `CREATE TABLE import.pages (
      page integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, stage text NOT NULL, first numeric NOT NULL, next numeric,
      scope text, key text, is_done boolean NOT NULL DEFAULT false, row_count bigint NOT NULL DEFAULT 0, UNIQUE (stage, first))`,
    // Blocks of answers, and the final blocks of the chain.
    `CREATE TABLE import.page_blocks (page integer, num integer, id bytea, PRIMARY KEY (page, num, id))`,
    `CREATE TABLE import.blocks (num integer PRIMARY KEY, id bytea NOT NULL, time_ms bigint NOT NULL)`,
    // What rows were changed to since, and what they held before they were removed.
    `CREATE TABLE import.changes (
      stage text COLLATE "C", scope text COLLATE "C", primary_key bigint, block_num integer NOT NULL, is_present boolean NOT NULL,
      value bytea NOT NULL, PRIMARY KEY (stage, primary_key, scope))`,
    // What actions since did to rows, by table and key.
    `CREATE TABLE import.operations (name text COLLATE "C", key bigint, row jsonb NOT NULL, is_whole boolean NOT NULL, PRIMARY KEY (name, key))`,
    ...tables.map(
      ({ stage }) =>
        `CREATE TABLE ${stage} (page integer NOT NULL, scope text COLLATE "C" NOT NULL, primary_key bigint NOT NULL, value bytea NOT NULL)`,
    ),
  ]
}
