import { listTables } from '../../../core/model/index.ts'
import type { Handler } from '../handler.ts'
import { AssetsBlock } from './block.ts'
import { actions, rows } from './contract.ts'
import type { AssetsAction, AssetsRowEvent } from './contract.ts'
import { offerContents, offerCounts, offerValidity } from './offer-changes.ts'
import { loadAssetsState } from './state.ts'
import type { AssetsState } from './state.ts'
import { tables } from './tables.ts'
export { EventLog } from './event-log.ts'
export type { StoredHistory } from './event-log.ts'
export { logCodes as assetsLogCodes } from './contract.ts'
export type { FormatField, OfferState, TemplateState } from './contract.ts'
export { offerStates, offerValidity } from './offer-changes.ts'

/** Settings of the handler in readers.config.json. */
export interface AssetsHandlerArgs {
  /** Account of the assets contract. */
  readonly assets_account: string
  readonly store_transfers: boolean
  readonly store_logs: boolean
}

/** Creates the handler of the NFT contract (AtomicAssets, contract versions 1 and 2). */
export function createAssetsHandler(
  args: AssetsHandlerArgs,
): Handler<AssetsState, AssetsAction, AssetsRowEvent> {
  const stored = { logs: args.store_logs, transfers: args.store_transfers }
  return {
    family: 'assets',
    account: args.assets_account,
    tables: listTables(tables),
    derived: [offerContents, offerValidity, offerCounts],
    actions,
    rows,
    load: loadAssetsState,
    open: (block, state, sink, warn) =>
      new AssetsBlock({ account: args.assets_account, stored, block, state, sink, warn }),
  }
}
