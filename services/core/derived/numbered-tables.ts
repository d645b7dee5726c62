/** Tables whose rows have ids that a contract gives out one after the other. */

/** Rows whose ids a counter of the contract gives out one after the other. */
export interface NumberedTable {
  readonly table: string
  readonly id: string
  /** First id that the contract gives out. */
  readonly first: string
  /** Statement that returns the id that the contract gives out next. */
  readonly next: string
  readonly family: 'assets' | 'market' | 'tools'
  /** Column with the block in which a row was created; 0 where that is not known. */
  readonly created: string
  /** Log action that creates each row; assets store the sequence of their mint instead. */
  readonly log?: string
}

const marketCounter = (name: string, before?: string): string => `
  SELECT max(value) FROM (SELECT counter_value AS value FROM market.counters WHERE counter_name = '${name}'
    ${before === undefined ? '' : `UNION ALL SELECT ${before} FROM market.config`}) c`

const listing = (table: string, id: string, log: string, next: string): NumberedTable => ({
  ...{ table: `market.${table}`, id, first: '1', next, family: 'market', created: 'created_at_block', log },
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
  listing('sales', 'sale_id', 'lognewsale', marketCounter('sale', 'sale_counter')),
  listing('auctions', 'auction_id', 'lognewauct', marketCounter('auction', 'auction_counter')),
  listing('buyoffers', 'buyoffer_id', 'lognewbuyo', marketCounter('buyoffer')),
  listing('template_buyoffers', 'buyoffer_id', 'lognewtbuyo', marketCounter('tbuyoffer')),
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
 * @param since SQL expression of the first id that it has to have.
 */
export function missingIds({ table, id, next }: NumberedTable, since: string): string {
  return `
    WITH ids AS (
      SELECT ${id}::numeric AS id, lead(${id}::numeric) OVER (ORDER BY ${id}) AS following FROM ${table} WHERE ${id} >= ${since}
      UNION ALL SELECT ${since}::numeric - 1, (SELECT min(${id}) FROM ${table} WHERE ${id} >= ${since}))
    SELECT concat_ws(' ', '${id}', id + 1, 'to', coalesce(following, c.next) - 1) AS text
    FROM ids CROSS JOIN (${next}) c(next) WHERE c.next IS NOT NULL AND coalesce(following, c.next) <> id + 1 ORDER BY id`
}
