import { hexToBytes } from '../../../core/bytes/index.ts'
import { parseAsset, parseSymbol } from '../../../core/antelope/index.ts'
import { FatalError } from '../../../core/errors/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { BlockInfo } from '../handler.ts'
import { toJsonText } from '../../rows/json-text.ts'
import { auctionFlip, noteFormerTerms } from './listing-values.ts'
import type * as contract from './contract.ts'
import type { MarketState } from './state.ts'
import { symbolPairRows, symbolsOf } from './symbol-pairs.ts'
import { tables } from './tables.ts'

/** End of an id range without an upper limit. */
const OPEN_END = 2n ** 64n - 1n

/** Accounts of the contracts that a market handler works with. */
export interface MarketAccounts {
  readonly market: string
  readonly assets: string
  readonly oracle: string
}

/** Copies contract tables whose rows at the end of the block are stored unchanged. */
export class ContractRows {
  /** Handler state, updated by the block's rows. */
  state: MarketState
  readonly #accounts: MarketAccounts
  readonly #block: BlockInfo
  readonly #sink: RowSink

  constructor(accounts: MarketAccounts, block: BlockInfo, state: MarketState, sink: RowSink) {
    this.#accounts = accounts
    this.#block = block
    this.state = state
    this.#sink = sink
  }

  /** Stores a row of a copied contract table; returns false for a row of another table. */
  take(event: contract.MarketRowEvent): boolean {
    switch (event.table) {
      case 'config':
        if (event.present) this.#config(event.value())
        return true
      case 'counters':
        this.#counters(event.value(), event.present)
        return true
      case 'marketplaces':
        this.#marketplaces(event.value(), event.present)
        return true
      case 'balances':
        this.#balances(event.value(), event.present)
        return true
      case 'bonusfees':
        this.#bonusFees(event.value(), event.present)
        return true
      case 'royaltyconf':
        this.#royaltyConfig(event.value(), event.present)
        return true
      case 'royaltytemp':
        this.#royaltyTemplate(event.scope(), event.value(), event.present)
        return true
      case 'royaltyattr':
        this.#royaltyAttribute(event.scope(), event.value(), event.present)
        return true
      default:
        return false
    }
  }

  #config(value: contract.ConfigState): void {
    this.#checkAccount('assets', value.atomicassets_account)
    this.#checkAccount('oracle', value.delphioracle_account)
    const isV2 = Number.parseInt(value.version, 10) >= 2
    const v2SinceBlock = this.state.v2SinceBlock ?? (isV2 ? this.#block.num : null)
    if (v2SinceBlock !== this.state.v2SinceBlock) this.#sink.recheck(auctionFlip, 0n)
    this.#sink.upsert(tables.config, {
      contract: this.#accounts.market,
      version: value.version,
      v2_since_block: v2SinceBlock,
      assets_contract: value.atomicassets_account,
      oracle_contract: value.delphioracle_account,
      sale_counter: value.sale_counter,
      auction_counter: value.auction_counter,
      minimum_bid_increase: value.minimum_bid_increase,
      minimum_auction_duration: value.minimum_auction_duration,
      maximum_auction_duration: value.maximum_auction_duration,
      auction_reset_duration: value.auction_reset_duration,
      maker_market_fee: value.maker_market_fee,
      taker_market_fee: value.taker_market_fee,
    })
    this.state = {
      v2SinceBlock,
      tokens: this.#tokens(value.supported_tokens),
      symbolPairs: this.#symbolPairs(value.supported_symbol_pairs),
    }
  }

  /**
   * Checks that the market uses the assets and oracle contracts of this reader. Sale states depend on offers, and
   * prices on medians, of these contracts.
   */
  #checkAccount(family: 'assets' | 'oracle', named: string): void {
    if (named === this.#accounts[family]) return
    throw new FatalError(
      'READER_FAMILIES_DIFFER',
      `market contract ${this.#accounts.market} works with ${family} contract ${named}, but the reader indexes ${this.#accounts[family]}`,
    )
  }

  #tokens(supported: contract.ConfigState['supported_tokens']): string[] {
    const rows = supported.map(({ token_contract, token_symbol }, place) => {
      const { symbol, precision } = parseSymbol(token_symbol)
      return { token_symbol: symbol, place, token_precision: precision, token_contract }
    })
    for (const row of rows) this.#sink.upsert(tables.tokens, row)
    const known = new Set(rows.map((row) => row.token_symbol))
    for (const token of this.state.tokens)
      if (!known.has(token)) this.#sink.remove(tables.tokens, { token_symbol: token })
    return [...known]
  }

  #symbolPairs(supported: contract.ConfigState['supported_symbol_pairs']): MarketState['symbolPairs'] {
    const rows = symbolPairRows(supported)
    for (const row of rows) this.#sink.upsert(tables.symbolPairs, row)
    const former = new Set(this.state.symbolPairs.map(symbolsOf))
    const present = new Set(rows.map(symbolsOf))
    for (const symbols of present)
      if (!former.has(symbols)) noteFormerTerms(this.#sink, symbols, null, this.#block.num)
    for (const pair of this.state.symbolPairs)
      if (!present.has(symbolsOf(pair))) this.#sink.remove(tables.symbolPairs, { ...pair })
    return rows.map(({ listing_symbol, settlement_symbol }) => ({ listing_symbol, settlement_symbol }))
  }

  #counters(value: contract.CounterState, present: boolean): void {
    if (present) this.#sink.upsert(tables.counters, { ...value })
    else this.#sink.remove(tables.counters, { counter_name: value.counter_name })
  }

  #marketplaces(value: contract.MarketplaceState, present: boolean): void {
    const { marketplace_name, creator } = value
    if (!present) return this.#sink.remove(tables.marketplaces, { marketplace_name })
    this.#sink.upsert(tables.marketplaces, {
      marketplace_name,
      created_at_time: this.#block.timeMs,
      created_at_block: this.#block.num,
      creator,
    })
  }

  #balances(value: contract.BalanceState, present: boolean): void {
    const updated = { updated_at_time: this.#block.timeMs, updated_at_block: this.#block.num }
    const rows = (present ? value.quantities : []).map((quantity) => {
      const { symbol, amount } = parseAsset(quantity)
      return { owner: value.owner, token_symbol: symbol, amount, ...updated }
    })
    this.#sink.replaceGroup(tables.balances, { owner: value.owner }, rows)
  }

  #bonusFees(value: contract.BonusFeeState, present: boolean): void {
    const { bonusfee_id, fee, fee_recipient, fee_name } = value
    const ranges = (present ? firstRanges(value.counter_ranges) : []).map(
      ({ counter_name, start_id, end_id }) => ({
        bonusfee_id,
        counter_name,
        start_id,
        end_id: end_id === OPEN_END ? null : end_id,
      }),
    )
    this.#sink.replaceGroup(tables.bonusFeeRanges, { bonusfee_id }, ranges)
    if (!present) return this.#sink.remove(tables.bonusFees, { bonusfee_id })
    this.#sink.upsert(tables.bonusFees, {
      bonusfee_id,
      created_at_time: this.#block.timeMs,
      created_at_block: this.#block.num,
      fee,
      fee_recipient,
      fee_name,
    })
  }

  #royaltyConfig(value: contract.RoyaltyConfigState, present: boolean): void {
    const { collection, founders, ...rest } = value
    if (!present) return this.#sink.remove(tables.royaltyConfigs, { collection_name: collection })
    this.#sink.upsert(tables.royaltyConfigs, {
      collection_name: collection,
      ...this.#dates(),
      split_founders: rest.split_founders,
      split_templates: rest.split_templates,
      split_attributes: rest.split_attributes,
      attribute_mode: rest.attribute_mode,
      founders: toJsonText(founders),
    })
  }

  #royaltyTemplate(collection: string, value: contract.RoyaltyTemplateState, present: boolean): void {
    const key = { collection_name: collection, template_id: value.template_id }
    if (!present) return this.#sink.remove(tables.royaltyTemplates, key)
    this.#sink.upsert(tables.royaltyTemplates, {
      ...key,
      ...this.#dates(),
      recipients: toJsonText(value.recipients),
    })
  }

  #royaltyAttribute(collection: string, value: contract.RoyaltyAttributeState, present: boolean): void {
    const key = { collection_name: collection, rule_id: value.index }
    if (!present) return this.#sink.remove(tables.royaltyAttributes, key)
    this.#sink.upsert(tables.royaltyAttributes, {
      ...key,
      ...this.#dates(),
      weight: value.weight,
      source: value.source,
      field: value.field,
      value: toJsonText(value.value),
      recipients: toJsonText(value.recipients),
      lookup_hash: hexToBytes(value.lookup_hash),
    })
  }

  #dates() {
    const { num, timeMs } = this.#block
    return {
      created_at_time: timeMs,
      updated_at_time: timeMs,
      created_at_block: num,
      updated_at_block: num,
    }
  }
}

type CounterRanges = contract.BonusFeeState['counter_ranges']

/**
 * Returns the first range of each counter: a bonus fee may name a counter twice, and the contract reads the first range
 * only.
 */
function firstRanges(ranges: CounterRanges): CounterRanges {
  const counters = ranges.map((range) => range.counter_name)
  return ranges.filter((range, place) => counters.indexOf(range.counter_name) === place)
}
