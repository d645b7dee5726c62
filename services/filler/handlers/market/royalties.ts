import { parseAsset } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { ActionEvent, BlockInfo, Named } from '../handler.ts'
import { royaltyLogCodes } from './contract.ts'
import type { LogRoyalty, RoyaltyEvent } from './contract.ts'
import type { MarketLog } from './log.ts'
import { tables } from './tables.ts'

/** A listing that an action settled. */
export interface Settlement {
  readonly kind: number
  readonly id: bigint
}

/** Codes of payout categories in the database. */
const categories = { logroyfound: 1, logroytempl: 2, logroyattr: 3, logroydust: 4 } as const
/** Maximum length of the chain of inline actions from a royalty log up to the settling action. */
const MAX_STEPS = 32
/** Difference between the royalty log codes of one listing type and the codes of the next listing type. */
const KIND_STEP = 20

/**
 * Writes the ledger of royalty payouts. A payout names no listing. To find the listing, the ledger follows the senders
 * of the royalty log up to the action that settled a listing.
 */
export class Royalties {
  readonly #block: BlockInfo
  readonly #sink: RowSink
  readonly #log: MarketLog
  #txIndex = -1
  /** Senders in the current transaction: ordinal of an action to the ordinal of its sender. */
  readonly #senders = new Map<number, number>()
  readonly #settlements = new Map<number, Settlement>()

  constructor(block: BlockInfo, sink: RowSink, log: MarketLog) {
    this.#block = block
    this.#sink = sink
    this.#log = log
  }

  /** Records the sender of every action of the contract, in order of execution. */
  follow(event: ActionEvent): void {
    if (event.txIndex !== this.#txIndex) {
      this.#txIndex = event.txIndex
      this.#senders.clear()
      this.#settlements.clear()
    }
    this.#senders.set(event.ordinal, event.creatorOrdinal)
  }

  /** Records an action that ends a listing by a trade, so that royalty payouts can be assigned to the listing. */
  settle(event: ActionEvent, settlement: Settlement): void {
    this.#settlements.set(event.ordinal, settlement)
  }

  payouts(event: Exclude<RoyaltyEvent, { name: 'logroydust' }>): void {
    const log = event.data
    this.#write(event, log.payouts, log.collection_name, {
      asset_id: log.asset_id,
      template_id: log.template_id ?? null,
      rule_id: log.rule_id ?? null,
    })
  }

  dust(event: Named<RoyaltyEvent, 'logroydust'>): void {
    const log = event.data
    const payout = { recipient: log.collection_author, amount: log.amount }
    this.#write(event, [payout], log.collection_name, { asset_id: null, template_id: null, rule_id: null })
  }

  #write(
    event: RoyaltyEvent,
    payouts: LogRoyalty['payouts'],
    collection: string,
    subject: { asset_id: bigint | null; template_id: number | null; rule_id: bigint | null },
  ): void {
    const settlement = this.#findSettlement(event)
    this.#log.addTransaction(event)
    payouts.forEach(({ recipient, amount }, place) => {
      const paid = parseAsset(amount)
      this.#sink.append(tables.royaltyPayouts, {
        seq: event.seq,
        payout_index: place,
        category: categories[event.name],
        kind: settlement?.kind ?? 0,
        listing_id: settlement?.id ?? null,
        ...subject,
        amount: paid.amount,
        paid_at_time: this.#block.timeMs,
        token_symbol: paid.symbol,
        collection_name: collection,
        recipient,
      })
    })
    if (settlement)
      this.#log.writeCode(
        event,
        royaltyLogCodes[event.name] + (settlement.kind - 1) * KIND_STEP,
        settlement.id,
      )
  }

  #findSettlement(event: ActionEvent): Settlement | undefined {
    let ordinal = event.creatorOrdinal
    for (let step = 0; step < MAX_STEPS && ordinal !== 0; step++) {
      const settlement = this.#settlements.get(ordinal)
      if (settlement) return settlement
      ordinal = this.#senders.get(ordinal) ?? 0
    }
    return undefined
  }
}
