import type { Query } from '../handler.ts'

/** State of the handler between blocks; equal to the rows of market.config, market.tokens and market.symbol_pairs. */
export interface MarketState {
  /** Block in which version 2 was first seen; its rules hold for later blocks. */
  readonly v2SinceBlock: number | null
  readonly tokens: readonly string[]
  readonly symbolPairs: readonly SymbolPair[]
}

/** A pair of symbols with a rate of an oracle. */
export interface SymbolPair {
  readonly listing_symbol: string
  readonly settlement_symbol: string
}

/** Reads the state as of the committed position. */
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
