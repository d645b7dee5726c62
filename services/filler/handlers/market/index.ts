import { listTables } from '../../../core/model/index.ts'
import type { DerivedStep } from '../../rows/operations.ts'
import type { Handler } from '../handler.ts'
import { MarketBlock } from './block.ts'
import { clock } from './clock.ts'
import { actions, rows } from './contract.ts'
import type { MarketAction, MarketRowEvent } from './contract.ts'
import { listedAssets, wantedTemplates } from './listed-assets.ts'
import { editedAssets, editedTemplates, listingNames } from './listing-names.ts'
import { auctionFlip, listingValues } from './listing-values.ts'
import { marketplaceAccounts } from './marketplace-accounts.ts'
import { priceDays } from './price-days.ts'
import { loadMarketState } from './state.ts'
import type { MarketState } from './state.ts'
import { counts, marketplaceSums, saleSums, tradeSums } from './sums.ts'
import { tables } from './tables.ts'
import { contractSellers, templatePrices } from './template-prices.ts'
import { trades } from './trades.ts'
export { noteFormerTerms } from './listing-values.ts'
export { MarketLog } from './log.ts'
export { logCodes as marketLogCodes, royaltyLogCodes } from './contract.ts'
export type { AuctionState, BundleState } from './contract.ts'
export { buyofferState } from './buyoffers.ts'
export { loadedListings } from './loaded-listings.ts'
export { listAssets } from './listed-assets.ts'
export { saleState } from './sales.ts'
export { parseSymbolPairs, symbolsOf } from './symbol-pairs.ts'

/** Settings of the handler in readers.config.json, and the accounts of the assets and oracle families of the reader. */
export interface MarketHandlerArgs {
  /** Account of the market contract. */
  readonly market_account: string
  /** Account of the assets contract that the same reader indexes. */
  readonly assets_account: string
  /** Account of the oracle contract that the same reader indexes. */
  readonly oracle_account: string
  readonly store_logs: boolean
}

/** Derived values, each step after the steps whose results it reads. */
const derived: readonly DerivedStep[] = [
  ...listedAssets,
  wantedTemplates,
  ...listingValues,
  editedAssets,
  editedTemplates,
  ...listingNames,
  auctionFlip,
  clock,
  ...trades,
  saleSums,
  ...counts,
  tradeSums,
  marketplaceAccounts,
  marketplaceSums,
  priceDays,
  contractSellers,
  templatePrices,
]

/** Creates the handler of the marketplace contract (AtomicMarket, contract versions 1.3 and 2). */
export function createMarketHandler(
  args: MarketHandlerArgs,
): Handler<MarketState, MarketAction, MarketRowEvent> {
  const accounts = { market: args.market_account, assets: args.assets_account, oracle: args.oracle_account }
  return {
    family: 'market',
    account: args.market_account,
    tables: listTables(tables),
    derived,
    actions,
    rows,
    load: loadMarketState,
    open: (block, state, sink) =>
      new MarketBlock({ accounts, keepsLogs: args.store_logs, block, state, sink }),
  }
}
