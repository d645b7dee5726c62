import { listTables } from '../../../core/model/index.ts'
import type { Handler } from '../handler.ts'
import { ToolsBlock } from './block.ts'
import { actions, rows } from './contract.ts'
import type { ToolsAction, ToolsRowEvent } from './contract.ts'
import { laterCollections, linkCollections, linkCounts } from './link-derivations.ts'
import { toolsTables } from '../../../core/model/tables/index.ts'
export { logCodes as toolsLogCodes } from './contract.ts'
export type { LinkState } from './contract.ts'
export { linkCollections } from './link-derivations.ts'

/** Settings of the handler in readers.config.json. */
export interface ToolsHandlerArgs {
  /** Account of the tools contract. */
  readonly tools_account: string
  readonly store_logs: boolean
}

/**
 * Creates the handler of the tools contract: claim links with which anyone who has the key can claim assets.
 * @param areAssetsElsewhere whether another reader indexes the assets contract.
 */
export function createToolsHandler(
  args: ToolsHandlerArgs,
  areAssetsElsewhere: boolean,
): Handler<null, ToolsAction, ToolsRowEvent> {
  return {
    family: 'tools',
    account: args.tools_account,
    tables: listTables(toolsTables),
    derived: [linkCollections, ...(areAssetsElsewhere ? [laterCollections] : []), linkCounts],
    actions,
    rows,
    load: () => Promise.resolve(null),
    open: (block, state, sink) =>
      new ToolsBlock({ account: args.tools_account, keepsLogs: args.store_logs, block, state, sink }),
  }
}
