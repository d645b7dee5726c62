import { allMarketListings } from '../../../core/model/tables/index.ts'
import type { Rule } from '../../../core/derived/index.ts'

/**
 * Returns a statement that selects the distinct values of some columns from all tables of listings, each value with the
 * name of the table and column.
 */
function valuesOf(columns: readonly string[]): string {
  return allMarketListings
    .flatMap(({ table }) =>
      columns
        .filter((column) => column in table.columns)
        .map(
          (column) =>
            `SELECT DISTINCT '${table.name}.${column}' AS origin, ${column} AS value FROM ${table.name} WHERE ${column} IS NOT NULL`,
        ),
    )
    .join(' UNION ALL ')
}

const listingTokens = valuesOf(['token_symbol', 'settlement_symbol', 'listing_symbol'])
const listingMarketplaces = valuesOf(['maker_marketplace', 'taker_marketplace'])

/**
 * Rules on references: if a row or a log entry refers to another row, the other row must exist. The rules hold on the
 * chain, because the contracts never remove collections, schemas, tokens or marketplaces.
 */
export const presenceRules: readonly Rule[] = [
  {
    rule: 'each collection and schema whose creation was logged has a row in assets.collections or assets.schemas',
    violations: `SELECT concat_ws(' ', 'collection', c.collection_name, 'schema ' || c.schema_name) FROM import.creations c
      WHERE NOT EXISTS (SELECT FROM assets.collections k WHERE k.collection_name = c.collection_name)
        OR c.schema_name IS NOT NULL AND NOT EXISTS (SELECT FROM assets.schemas s
          WHERE (s.collection_name, s.schema_name) = (c.collection_name, c.schema_name)) ORDER BY 1`,
  },
  {
    rule: 'each schema refers to an existing collection, and each template and asset to an existing schema',
    violations: `SELECT concat_ws(' ', 'collection', collection_name) FROM assets.schemas s
      WHERE NOT EXISTS (SELECT FROM assets.collections c WHERE c.collection_name = s.collection_name)
      UNION SELECT concat_ws(' ', 'collection', collection_name, 'schema', schema_name) FROM (
        SELECT DISTINCT collection_name, schema_name FROM assets.templates
        UNION SELECT collection_name, schema_name FROM assets.schema_counts) u
      WHERE NOT EXISTS (SELECT FROM assets.schemas s
        WHERE (s.collection_name, s.schema_name) = (u.collection_name, u.schema_name)) ORDER BY 1`,
  },
  {
    rule: 'each token of a listing has a row in market.tokens or market.symbol_pairs',
    violations: `SELECT concat_ws(' ', value, 'of', origin) FROM (${listingTokens}) v
      WHERE NOT EXISTS (SELECT FROM market.tokens t WHERE t.token_symbol = v.value)
        AND NOT EXISTS (SELECT FROM market.symbol_pairs y WHERE v.origin = 'market.sales.listing_symbol' AND y.listing_symbol = v.value) ORDER BY 1`,
  },
  {
    rule: 'each marketplace of a listing has a row in market.marketplaces',
    violations: `SELECT concat_ws(' ', '"' || value || '"', 'of', origin) FROM (${listingMarketplaces}) v
      WHERE NOT EXISTS (SELECT FROM market.marketplaces m WHERE m.marketplace_name = v.value) ORDER BY 1`,
  },
]
