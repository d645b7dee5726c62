import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { MARKET_ACCOUNT } from './market-rows.ts'
import type { BonusFeeRow, MarketplaceRow, SymbolPair } from './market-rows.ts'
import {
  changeBalance,
  upcomingId,
  marketConfigOf,
  nextMarketId,
  putMarketConfig,
  sendTokens,
} from './market-shared.ts'
import { readRow } from './assets-shared.ts'
import { nameValue } from '../runtime/index.ts'

/** `end_id` of a counter range without an end. */
const NO_END = 2n ** 64n - 1n

/** Handlers of the actions on configuration, marketplaces, bonus fees and balances. */
export const marketAdminActions: readonly [string, ActionHandler][] = [
  ['setversion', setVersion],
  ['adddelphi', addSymbolPair],
  ['regmarket', registerMarketplace],
  ['addbonusfee', addBonusFee],
  ['stopbonusfee', stopBonusFee],
  ['delbonusfee', deleteBonusFee],
  ['withdraw', withdraw],
]

/** Handler of a token contract's notification of a payment: credits the sender's balance. */
export function takeDeposit(context: ActionContext): void {
  const data = context.data() as { from: string; to: string; quantity: string; memo: string }
  if (data.to !== context.self || data.memo !== 'deposit') return
  changeBalance(context, data.from, data.quantity, 1)
}

function setVersion(context: ActionContext): void {
  const { new_version: version } = context.data() as { new_version: string }
  putMarketConfig(context, { ...marketConfigOf(context), version })
}

function addSymbolPair(context: ActionContext): void {
  const config = marketConfigOf(context)
  const pair = context.data() as SymbolPair
  putMarketConfig(context, { ...config, supported_symbol_pairs: [...config.supported_symbol_pairs, pair] })
}

function registerMarketplace(context: ActionContext): void {
  const data = context.data() as MarketplaceRow
  context.put(
    {
      table: 'marketplaces',
      scope: MARKET_ACCOUNT,
      key: nameValue(data.marketplace_name),
      payer: data.creator,
    },
    { ...data },
  )
}

function addBonusFee(context: ActionContext): void {
  const data = context.data() as {
    fee_recipient: string
    fee: number
    applicable_counter_names: string[]
    fee_name: string
  }
  const id = nextMarketId(context, 'bonusfee')
  const ranges = data.applicable_counter_names.map((name) => ({
    counter_name: name,
    start_id: upcomingId(context, name),
    end_id: NO_END,
  }))
  putBonusFee(context, {
    bonusfee_id: id,
    fee_recipient: data.fee_recipient,
    fee: data.fee,
    counter_ranges: ranges,
    fee_name: data.fee_name,
  })
}

function stopBonusFee(context: ActionContext): void {
  const row = bonusFeeOf(context)
  const ranges = row.counter_ranges.map((range) => ({
    ...range,
    end_id: range.end_id === NO_END ? upcomingId(context, range.counter_name) : range.end_id,
  }))
  putBonusFee(context, { ...row, counter_ranges: ranges })
}

function deleteBonusFee(context: ActionContext): void {
  context.erase('bonusfees', MARKET_ACCOUNT, bonusFeeOf(context).bonusfee_id)
}

function bonusFeeOf(context: ActionContext): BonusFeeRow {
  const { bonusfee_id: id } = context.data() as { bonusfee_id: bigint }
  return readRow(context.get('bonusfees', MARKET_ACCOUNT, id), `bonus fee ${id}`)
}

function putBonusFee(context: ActionContext, row: BonusFeeRow): void {
  context.put(
    { table: 'bonusfees', scope: MARKET_ACCOUNT, key: row.bonusfee_id, payer: MARKET_ACCOUNT },
    { ...row },
  )
}

function withdraw(context: ActionContext): void {
  const { owner, token_to_withdraw: quantity } = context.data() as {
    owner: string
    token_to_withdraw: string
  }
  changeBalance(context, owner, quantity, -1)
  sendTokens(context, owner, quantity, 'AtomicMarket Withdrawal')
}
