import { auctionActions } from './market-auctions.ts'
import { buyofferActions } from './market-buyoffers.ts'
import { marketAdminActions, takeDeposit } from './market-admin.ts'
import { royaltyActions } from './market-royalties.ts'
import { saleActions } from './market-sales.ts'
import type { ActionHandler } from '../runtime/index.ts'

/**
 * All handlers of the market contract.
 * @param tokens token contracts whose deposits the market accepts.
 */
export function marketActions(tokens: readonly string[]): [string, ActionHandler][] {
  return [
    ...saleActions,
    ...auctionActions,
    ...buyofferActions,
    ...marketAdminActions,
    ...royaltyActions,
    ...tokens.map((token): [string, ActionHandler] => [`${token}::transfer`, takeDeposit]),
  ]
}
