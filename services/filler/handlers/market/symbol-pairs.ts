import { parseSymbol } from '../../../core/antelope/index.ts'
import type { ConfigState } from './contract.ts'
import type { SymbolPair } from './state.ts'
import type { SymbolPairRow } from './tables.ts'

type SupportedPairs = ConfigState['supported_symbol_pairs']

/** Converts the pairs of a contract configuration to database rows. */
export function symbolPairRows(supported: SupportedPairs): SymbolPairRow[] {
  return supported.map((pair, place) => {
    const listing = parseSymbol(pair.listing_symbol)
    const settlement = parseSymbol(pair.settlement_symbol)
    return {
      listing_symbol: listing.symbol,
      settlement_symbol: settlement.symbol,
      place,
      listing_precision: listing.precision,
      settlement_precision: settlement.precision,
      pair_name: pair.delphi_pair_name,
      invert_pair: pair.invert_delphi_pair,
    }
  })
}

/** Name of a symbol pair, as `LISTING/SETTLEMENT`. */
export function symbolsOf({ listing_symbol, settlement_symbol }: SymbolPair): string {
  return `${listing_symbol}/${settlement_symbol}`
}

/**
 * Parses the symbol pairs of a `config` row in the JSON format of a node's HTTP API.
 * @throws TypeError for a row of another format.
 */
export function parseSymbolPairs(config: Readonly<Record<string, unknown>>): SymbolPairRow[] {
  const supported = config.supported_symbol_pairs
  const isPair = (pair: Readonly<Record<string, unknown>>) =>
    [pair.listing_symbol, pair.settlement_symbol, pair.delphi_pair_name].every(
      (text) => typeof text === 'string',
    )
  if (!Array.isArray(supported) || !supported.every(isPair))
    throw new TypeError('the row is not a row of the config table')
  // Nodes encode booleans as 0 and 1.
  return symbolPairRows(
    (supported as SupportedPairs).map((pair) => ({
      ...pair,
      invert_delphi_pair: Number(pair.invert_delphi_pair) === 1,
    })),
  )
}
