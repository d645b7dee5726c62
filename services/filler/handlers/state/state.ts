import type { Query } from '../handler.ts'

/** Settings of the state history writer. */
export interface StateHistorySettings {
  readonly reader: string
  readonly accounts: readonly string[]
  readonly permissions: boolean
  /** Number of blocks below the head whose state stays readable; 0 = all. */
  readonly historyBlocks: number
}

/** Writer state between blocks; mirrors the rows of state.coverage and state.tables. */
export interface StateWriterState {
  /** First stored block; null before the first block. */
  readonly sinceBlock: number | null
  readonly historyFrom: number
  /**
   * Contract tables that have ever had a row, as `account/table`. The set grows in place and is reloaded after a
   * rollback.
   */
  readonly tables: Set<string>
}

/** Reads the writer's state from the database, as of the committed position. */
export async function loadState(query: Query, reader: string): Promise<StateWriterState> {
  const coverage = await query<{ since_block: number; history_from: number }>(
    'SELECT since_block, history_from FROM state.coverage WHERE reader = $1',
    [reader],
  )
  const tables = await query<{ name: string }>(
    "SELECT account || '/' || table_name AS name FROM state.tables",
  )
  return {
    sinceBlock: coverage[0]?.since_block ?? null,
    historyFrom: coverage[0]?.history_from ?? 0,
    tables: new Set(tables.map(({ name }) => name)),
  }
}
