import type { BlockScope, BlockStart } from '../handler.ts'
import { Auctions } from './auctions.ts'
import { Buyoffers } from './buyoffers.ts'
import type * as contract from './contract.ts'
import { ContractRows } from './contract-rows.ts'
import type { MarketAccounts } from './contract-rows.ts'
import { MarketLog } from './log.ts'
import { Royalties } from './royalties.ts'
import { Sales } from './sales.ts'
import type { MarketState } from './state.ts'
import { kinds } from './tables.ts'

interface MarketBlockStart extends BlockStart<MarketState> {
  readonly accounts: MarketAccounts
  readonly keepsLogs: boolean
}

/** Applies one block of the market contract. */
export class MarketBlock implements BlockScope<MarketState, contract.MarketAction, contract.MarketRowEvent> {
  readonly #sales: Sales
  readonly #auctions: Auctions
  readonly #buyoffers: Buyoffers
  readonly #rows: ContractRows
  readonly #log: MarketLog
  readonly #royalties: Royalties

  constructor({ accounts, keepsLogs, block, state, sink }: MarketBlockStart) {
    // In the block of the upgrade to contract version 2, actions may still have run the code of version 1.
    const isV2 = state.v2SinceBlock !== null && block.num > state.v2SinceBlock
    this.#log = new MarketLog(block, sink, keepsLogs)
    this.#sales = new Sales(block, sink, this.#log, isV2)
    this.#auctions = new Auctions(block, sink, isV2)
    this.#buyoffers = new Buyoffers(block, sink, this.#log, isV2)
    this.#rows = new ContractRows(accounts, block, state, sink)
    this.#royalties = new Royalties(block, sink, this.#log)
  }

  action(event: contract.MarketAction): void {
    this.#royalties.follow(event)
    const subject = this.#subjectOf(event)
    if (subject !== null) this.#log.write(event, subject)
  }

  row(event: contract.MarketRowEvent): void {
    if (this.#rows.take(event)) return
    switch (event.table) {
      case 'sales':
        return this.#sales.row(event.primaryKey(), () => event.value(), event.present)
      case 'auctions':
        return this.#auctions.row(event.primaryKey(), () => event.value(), event.present)
      case 'buyoffers':
        return this.#buyoffers.row(event.primaryKey(), () => event.value(), event.present)
      default:
        return
    }
  }

  end(): MarketState {
    this.#sales.end()
    this.#auctions.end()
    this.#buyoffers.end()
    this.#log.end()
    return this.#rows.state
  }

  /**
   * Applies an action. Returns the id of the listing under which the caller logs the action; null if the caller must
   * not log the action.
   */
  #subjectOf(event: contract.MarketAction): bigint | null {
    switch (event.name) {
      case 'lognewsale':
      case 'logsalestart':
      case 'cancelsale':
      case 'purchasesale':
        return this.#saleAction(event)
      case 'lognewauct':
      case 'logauctstart':
      case 'cancelauct':
      case 'auctionbid':
      case 'auctclaimbuy':
      case 'auctclaimsel':
        return this.#auctionAction(event)
      case 'lognewbuyo':
      case 'cancelbuyo':
      case 'declinebuyo':
      case 'acceptbuyo':
        return this.#buyofferAction(event)
      case 'lognewtbuyo':
      case 'canceltbuyo':
      case 'fulfilltbuyo':
        return this.#templateBuyofferAction(event)
      case 'logroydust':
        this.#royalties.dust(event)
        return null
      case 'setdefmktcr':
      case 'migratebal':
        this.#log.write(event, 0n, event.data)
        return null
      default:
        this.#royalties.payouts(event)
        return null
    }
  }

  #saleAction(event: contract.SaleEvent): bigint | null {
    const { sale_id: id } = event.data
    if (event.name === 'lognewsale') this.#sales.create(event.data)
    else if (event.name === 'logsalestart') this.#sales.start(id, event.data.offer_id)
    else if (event.name === 'cancelsale') this.#sales.cancel(id)
    else {
      this.#royalties.settle(event, { kind: kinds.sale, id })
      this.#sales.purchase(event, event.data)
      return null
    }
    return id
  }

  #auctionAction(event: contract.AuctionEvent): bigint | null {
    const { auction_id: id } = event.data
    switch (event.name) {
      case 'lognewauct':
        this.#auctions.create(event.data)
        return id
      case 'logauctstart':
        this.#auctions.start(id)
        return id
      case 'cancelauct':
        this.#auctions.cancel(id)
        return id
      case 'auctionbid':
        this.#auctions.bid(event, event.data)
        this.#log.addTransaction(event)
        return null
      case 'auctclaimbuy':
        this.#auctions.claim(id, 'buyer')
        return id
      default:
        this.#royalties.settle(event, { kind: kinds.auction, id })
        this.#auctions.claim(id, 'seller')
        return id
    }
  }

  #buyofferAction(event: contract.BuyofferEvent): bigint | null {
    const { buyoffer_id: id } = event.data
    if (event.name === 'lognewbuyo') this.#buyoffers.create(event.data)
    else if (event.name === 'cancelbuyo') this.#buyoffers.cancel(id)
    else if (event.name === 'declinebuyo') this.#buyoffers.decline(id, event.data.decline_memo)
    else {
      this.#royalties.settle(event, { kind: kinds.buyoffer, id })
      this.#buyoffers.accept(event, event.data)
      return null
    }
    return id
  }

  #templateBuyofferAction(event: contract.TemplateBuyofferEvent): bigint {
    const { buyoffer_id: id } = event.data
    if (event.name === 'lognewtbuyo') this.#buyoffers.createForTemplate(event.data)
    else if (event.name === 'canceltbuyo') this.#buyoffers.cancelForTemplate(id)
    else {
      this.#royalties.settle(event, { kind: kinds.templateBuyoffer, id })
      this.#buyoffers.fulfill(event.data)
    }
    return id
  }
}
