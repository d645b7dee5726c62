import type { Query } from '../handler.ts'

/** Handler state between blocks; mirrors the rows of market.config, market.tokens and market.symbol_pairs. */
export interface MarketState {
  /** Block in which version 2 was first seen; the rules of version 2 apply to later blocks. */
  readonly v2SinceBlock: number | null
  readonly tokens: readonly string[]
  readonly symbolPairs: readonly SymbolPair[]
}

/** A listing symbol with a settlement symbol; an oracle pair gives their rate. */
export interface SymbolPair {
  readonly listing_symbol: string
  readonly settlement_symbol: string
}

/** Reads the handler state from the database, as of the committed position. */
export async function loadMarketState(query: Query): Promise<MarketState> {
  const config = await query<{ v2_since_block: number | null }>('SELECT v2_since_block FROM market.config')
  const tokens = await query<{ token_symbol: string }>(
    'SELECT token_symbol FROM market.tokens ORDER BY place',
  )
  const symbolPairs = await query<{ listing_symbol: string; settlement_symbol: string }>(
    'SELECT listing_symbol, settlement_symbol FROM market.symbol_pairs ORDER BY place',
  )
  return {
    v2SinceBlock: config[0]?.v2_since_block ?? null,
    tokens: tokens.map((row) => row.token_symbol),
    symbolPairs,
  }
}
