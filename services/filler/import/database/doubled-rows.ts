import pg from 'pg'
import { PronghornError } from '../../../core/errors/index.ts'
import type { OldSource } from './old-source.ts'

/** Keys of the source tables. A dump restored without its unique indexes can have two rows with one key. */
const sourceKeys: Readonly<Record<string, readonly string[]>> = {
  atomicassets_tokens: ['contract', 'token_symbol'],
  atomicassets_balances: ['contract', 'owner', 'token_symbol'],
  atomicassets_collections: ['contract', 'collection_name'],
  atomicassets_schemas: ['contract', 'collection_name', 'schema_name'],
  atomicassets_templates: ['contract', 'template_id'],
  atomicassets_assets: ['contract', 'asset_id'],
  atomicassets_offers: ['contract', 'offer_id'],
  atomicassets_transfers: ['contract', 'transfer_id'],
  atomicmarket_marketplaces: ['market_contract', 'marketplace_name'],
  atomicmarket_sales: ['market_contract', 'sale_id'],
  atomicmarket_auctions: ['market_contract', 'auction_id'],
  atomicmarket_buyoffers: ['market_contract', 'buyoffer_id'],
  atomicmarket_template_buyoffers: ['market_contract', 'buyoffer_id'],
  atomictools_links: ['tools_contract', 'link_id'],
}

/**
 * SQLSTATEs of statements that fail because two rows have the same key: `unique_violation`, `cardinality_violation`.
 */
const brokenByDoubledRows: ReadonlySet<string | undefined> = new Set(['23505', '21000'])

/**
 * Searches the tables of the source database for a key that several rows share, if `error` has a SQLSTATE that such
 * rows cause. Returns table, key and number of the rows as text; null if there is no such key.
 */
export async function findDoubledRow(source: OldSource, error: unknown): Promise<string | null> {
  const cause = error instanceof PronghornError ? error.cause : error
  if (!(cause instanceof pg.DatabaseError) || !brokenByDoubledRows.has(cause.code)) return null
  for (const [table, key] of Object.entries(sourceKeys)) {
    if (!key.every((column) => source.has(table, column))) continue
    const columns = key.join(', ')
    const [doubled] = await source.query<{ values: string; count: bigint }>(
      `SELECT concat_ws(', ', ${columns}) AS values, count(*) AS count FROM ${table} GROUP BY ${columns} HAVING count(*) > 1 LIMIT 1`,
    )
    if (doubled !== undefined)
      return `${table} has ${doubled.count} rows with the key (${columns}) = (${doubled.values})`
  }
  return null
}
