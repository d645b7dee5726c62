import type { Query } from '../handler.ts'
import type { FormatField } from './contract.ts'
import type { TokenRow } from './tables.ts'

/** Handler state between blocks; mirrors the rows of assets.config and assets.tokens. */
export interface AssetsState {
  /** False until the handler has seen the first config row of the contract. */
  readonly known: boolean
  readonly collectionFormat: readonly FormatField[]
  readonly version: string | null
  readonly v2SinceBlock: number | null
  /** Supported tokens for backing assets: symbol code to row. */
  readonly tokens: ReadonlyMap<string, TokenRow>
}

/** Reads the handler state from the database, as of the committed position. */
export async function loadAssetsState(query: Query): Promise<AssetsState> {
  const rows = await query<{
    collection_format: FormatField[]
    version: string | null
    v2_since_block: number | null
  }>('SELECT collection_format, version, v2_since_block FROM assets.config')
  const tokens = await query<Pick<TokenRow, keyof TokenRow>>(
    'SELECT token_symbol, token_precision, token_contract FROM assets.tokens',
  )
  const row = rows[0]
  return {
    known: row !== undefined,
    collectionFormat: row?.collection_format ?? [],
    version: row?.version ?? null,
    v2SinceBlock: row?.v2_since_block ?? null,
    tokens: new Map(tokens.map((token) => [token.token_symbol, token])),
  }
}
