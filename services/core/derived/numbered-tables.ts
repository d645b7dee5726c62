/** Tables whose rows have consecutive ids from a counter of the contract. */

import { allMarketListings } from '../model/tables/index.ts'
import type { MarketListing } from '../model/tables/index.ts'

/** Rows with consecutive ids from a counter of the contract. */
export interface NumberedTable {
  readonly table: string
  readonly id: string
  /** First id of the contract's counter. */
  readonly first: string
  /** Statement that returns the next id of the contract's counter. */
  readonly next: string
  readonly family: 'assets' | 'market' | 'tools'
  /** Column with the block that created a row; 0 if the block is not known. */
  readonly created: string
  /**
   * Name of the log action that creates a row. Absent for assets, whose rows store the sequence number of
   * their mint.
   */
  readonly log?: string
}

const marketCounter = (name: string, before?: string): string => `
  SELECT max(value) FROM (SELECT counter_value AS value FROM market.counters WHERE counter_name = '${name}'
    ${before === undefined ? '' : `UNION ALL SELECT ${before} FROM market.config`}) c`

const numberedListing = ({ table, created: log, counter, configCounter }: MarketListing): NumberedTable => ({
  table: table.name,
  id: table.key[0]!,
  first: '1',
  next: marketCounter(counter, configCounter),
  family: 'market',
  created: 'created_at_block',
  log,
})

export const numberedTables: readonly NumberedTable[] = [
  {
    table: 'assets.assets',
    id: 'asset_id',
    first: '1099511627776',
    next: 'SELECT asset_counter FROM assets.config',
    family: 'assets',
    created: 'minted_at_block',
  },
  {
    table: 'assets.templates',
    id: 'template_id',
    first: '1',
    next: 'SELECT template_counter FROM assets.config',
    family: 'assets',
    created: 'created_at_block',
    log: 'lognewtempl',
  },
  {
    table: 'assets.offers',
    id: 'offer_id',
    first: '1',
    next: 'SELECT offer_counter FROM assets.config',
    family: 'assets',
    created: 'created_at_block',
    log: 'lognewoffer',
  },
  ...allMarketListings.map(numberedListing),
  {
    table: 'tools.links',
    id: 'link_id',
    first: '1',
    next: 'SELECT link_counter FROM tools.config',
    family: 'tools',
    created: 'created_at_block',
    log: 'lognewlink',
  },
]

/**
 * Statement that returns a text for each range of ids that a table lacks.
 * @param since SQL expression of the first id that the table must have.
 */
export function missingIds({ table, id, next }: NumberedTable, since: string): string {
  return `
    WITH ids AS (
      SELECT ${id}::numeric AS id, lead(${id}::numeric) OVER (ORDER BY ${id}) AS following FROM ${table} WHERE ${id} >= ${since}
      UNION ALL SELECT ${since}::numeric - 1, (SELECT min(${id}) FROM ${table} WHERE ${id} >= ${since}))
    SELECT concat_ws(' ', '${id}', id + 1, 'to', coalesce(following, c.next) - 1) AS text
    FROM ids CROSS JOIN (${next}) c(next) WHERE c.next IS NOT NULL AND coalesce(following, c.next) <> id + 1 ORDER BY id`
}
