import { auctionActions } from './market-auctions.ts'
import { buyofferActions } from './market-buyoffers.ts'
import { marketAdminActions, takeDeposit } from './market-admin.ts'
import { royaltyActions } from './market-royalties.ts'
import { saleActions } from './market-sales.ts'
import type { ActionHandler } from '../runtime/index.ts'

/** Everything the market contract does; `tokens` are the token contracts whose deposits it takes. */
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
