import { listTables } from '../../store/index.ts'
import type { Keeper } from '../keeper.ts'
import { StateBlock } from './block.ts'
import { loadState } from './state.ts'
import type { StateKeeperState } from './state.ts'
import { tables } from './tables.ts'

/** Settings of the handler in readers.config.json. */
export interface StateHandlerArgs {
  /** Contracts whose rows are kept. */
  readonly accounts: readonly string[]
  /** Keep permissions and their links, of all accounts. */
  readonly permissions: boolean
  /** Blocks below the head that can be told of; 0 = all. */
  readonly history_blocks: number
}

/** Contract rows, permissions and block ids as the chain packs them, by block. */
export function createStateKeeper(args: StateHandlerArgs, reader: string): Keeper<StateKeeperState> {
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
    tables: listTables(tables),
    accounts,
    permissions: args.permissions,
    load: (query) => loadState(query, reader),
    hasBegun: ({ sinceBlock }) => sinceBlock !== null,
    open: (block, state, sink) => new StateBlock(settings, block, state, sink),
  }
}
