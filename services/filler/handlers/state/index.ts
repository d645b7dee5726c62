import { listTables } from '../../../core/model/index.ts'
import type { StateWriter } from '../state-writer.ts'
import { StateBlock } from './block.ts'
import { loadState } from './state.ts'
import type { StateWriterState } from './state.ts'
import { stateTables } from '../../../core/model/tables/index.ts'

/** Settings of the handler in readers.config.json. */
export interface StateHandlerArgs {
  /** Contracts whose rows are stored. */
  readonly accounts: readonly string[]
  /** Whether to store permissions and permission links, of all accounts. */
  readonly permissions: boolean
  /** Number of blocks below the head whose state stays readable; 0 = all. */
  readonly history_blocks: number
}

/** Creates the state history writer: stores contract rows, permissions and block ids in packed form, by block. */
export function createStateHistoryWriter(
  args: StateHandlerArgs,
  reader: string,
): StateWriter<StateWriterState> {
  const accounts = [...new Set(args.accounts)].sort()
  const settings = {
    reader,
    accounts,
    permissions: args.permissions,
    historyBlocks: args.history_blocks,
  }
  return {
    family: 'state',
    account: [...accounts, ...(args.permissions ? ['(permissions)'] : [])].join(' '),
    tables: listTables(stateTables),
    accounts,
    permissions: args.permissions,
    load: (query) => loadState(query, reader),
    hasBegun: ({ sinceBlock }) => sinceBlock !== null,
    open: (block, state, sink) => new StateBlock(settings, block, state, sink),
  }
}
