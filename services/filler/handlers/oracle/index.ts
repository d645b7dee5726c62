import { listTables } from '../../../core/model/index.ts'
import type { Handler } from '../handler.ts'
import { OracleBlock } from './block.ts'
import type { NoteTerms } from './block.ts'
import { actions, rows } from './contract.ts'
import type { OracleAction, OracleRowEvent } from './contract.ts'
import { loadOracleState } from './state.ts'
import type { OracleState } from './state.ts'
import { oracleTables } from '../../../core/model/tables/index.ts'
export { emptyState as emptyOracleState } from './state.ts'
export { parseDatapoint, parsePair } from './contract.ts'

/** Settings of the handler in readers.config.json. */
export interface OracleHandlerArgs {
  /** Account of the oracle contract. */
  readonly oracle_account: string
}

/**
 * Creates the handler of the price oracle (delphioracle).
 * @param noteTerms called when a pair appears, disappears or changes its precision.
 */
export function createOracleHandler(
  args: OracleHandlerArgs,
  noteTerms: NoteTerms = () => undefined,
): Handler<OracleState, OracleAction, OracleRowEvent> {
  return {
    family: 'oracle',
    account: args.oracle_account,
    tables: listTables(oracleTables),
    actions,
    rows,
    load: loadOracleState,
    open: (block, state, sink, warn) => new OracleBlock({ block, state, sink, warn, noteTerms }),
  }
}
