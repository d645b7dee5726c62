import { formatAsset, parseAsset } from '../../core/antelope/index.ts'
import type { Asset } from '../../core/antelope/index.ts'
import type { ActionContext } from '../runtime/index.ts'
import { payRoyalties } from './market-royalties.ts'
import { MARKET_ACCOUNT } from './market-rows.ts'
import type { ListingTerms } from './market-rows.ts'
import {
  changeBalance,
  isSecondMarket,
  marketCollectionOf,
  marketConfigOf,
  sendTokens,
} from './market-shared.ts'
import type { ListingKind } from './market-shared.ts'
import { readRow } from './assets-shared.ts'
import { nameValue } from '../runtime/index.ts'

/** Parties, assets and price of a settled listing. */
export interface Settlement {
  readonly kind: ListingKind
  readonly id: bigint
  readonly terms: ListingTerms
  readonly taker: string
  readonly seller: string
  readonly price: string
  /** Current owner of the assets. */
  readonly holder: string
  readonly assetIds: readonly bigint[]
  readonly memo: string
}

/** Distributes the price: fees go to the recipients' balances, the rest is paid to the seller at once. */
export function payOut(context: ActionContext, settlement: Settlement): void {
  const { kind, id, terms, taker, seller, memo } = settlement
  const config = marketConfigOf(context)
  const price = parseAsset(settlement.price)
  let left = price.amount
  const pay = (recipient: string, rate: number): void => {
    const fee = shareOf(price, rate)
    left -= fee.amount
    changeBalance(context, recipient, formatAsset(fee), 1)
  }
  pay(creatorOf(context, terms.maker_marketplace), config.maker_market_fee)
  pay(creatorOf(context, taker), config.taker_market_fee)
  const { author, market_fee: currentFee } = marketCollectionOf(context, terms.collection_name)
  if (isSecondMarket(config.version)) {
    const fee = shareOf(price, currentFee)
    left -= fee.amount
    payRoyalties(context, { ...settlement, author, fee })
  } else {
    pay(author, terms.collection_fee)
  }
  for (const { recipient, rate } of bonusFees(context, kind, id)) pay(recipient, rate)
  if (left > 0n) sendTokens(context, seller, formatAsset({ ...price, amount: left }), memo)
}

/** A share of a price, computed with doubles and truncated to the token's unit, as in the contract. */
function shareOf(price: Asset, rate: number): Asset {
  return { ...price, amount: BigInt(Math.trunc(rate * Number(price.amount))) }
}

function creatorOf(context: ActionContext, marketplace: string): string {
  const row = context.get('marketplaces', MARKET_ACCOUNT, nameValue(marketplace))
  return readRow(row, `marketplace "${marketplace}"`).creator
}

function bonusFees(
  context: ActionContext,
  kind: ListingKind,
  id: bigint,
): { recipient: string; rate: number }[] {
  const account = nameValue(MARKET_ACCOUNT)
  const table = context.host.state.rows.table(account, account, nameValue('bonusfees'))
  const rows = [...(table?.rows.keys() ?? [])].map((key) => context.get('bonusfees', MARKET_ACCOUNT, key)!)
  return rows
    .filter(({ counter_ranges: ranges }) =>
      ranges.some((range) => range.counter_name === kind && range.start_id <= id && id < range.end_id),
    )
    .map((row) => ({ recipient: row.fee_recipient, rate: row.fee }))
}
