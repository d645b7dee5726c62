import { listTables } from '../../store/index.ts'
import type { Handler } from '../handler.ts'
import { OracleBlock } from './block.ts'
import { wantedActions, wantedRows } from './contract.ts'
import { loadOracleState } from './state.ts'
import type { OracleState } from './state.ts'
import { tables } from './tables.ts'

/** Settings of the handler in readers.config.json. */
export interface OracleHandlerArgs {
  /** Contract account. */
  readonly oracle_account: string
}

/** The price oracle. */
export function createOracleHandler(args: OracleHandlerArgs): Handler<OracleState> {
  return {
    family: 'oracle',
    account: args.oracle_account,
    tables: listTables(tables),
    actions: wantedActions,
    rows: wantedRows,
    load: loadOracleState,
    open: (block, state, sink) => new OracleBlock(block, state, sink),
  }
}

export { tables as oracleTables } from './tables.ts'
