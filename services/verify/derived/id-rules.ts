import type { DerivedRule } from './rule.ts'

/** Rows whose ids a counter of the contract gives out one after the other. */
interface Numbered {
  readonly table: string
  readonly id: string
  /** First id that the contract gives out. */
  readonly first: string
  /** Statement that returns the id that the contract gives out next. */
  readonly next: string
  readonly family: 'assets' | 'market' | 'tools'
  readonly created: string
}

const marketCounter = (name: string, before?: string): string => `
  SELECT max(value) FROM (SELECT counter_value AS value FROM market.counters WHERE counter_name = '${name}'
    ${before === undefined ? '' : `UNION ALL SELECT ${before} FROM market.config`}) c`

const listing = (table: string, id: string, next: string): Numbered => ({
  ...{ table: `market.${table}`, id, first: '1', next, family: 'market', created: 'created_at_block' },
})

const numbered: readonly Numbered[] = [
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
  },
  {
    table: 'assets.offers',
    id: 'offer_id',
    first: '1',
    next: 'SELECT offer_counter FROM assets.config',
    family: 'assets',
    created: 'created_at_block',
  },
  listing('sales', 'sale_id', marketCounter('sale', 'sale_counter')),
  listing('auctions', 'auction_id', marketCounter('auction', 'auction_counter')),
  listing('buyoffers', 'buyoffer_id', marketCounter('buyoffer')),
  listing('template_buyoffers', 'buyoffer_id', marketCounter('tbuyoffer')),
  {
    table: 'tools.links',
    id: 'link_id',
    first: '1',
    next: 'SELECT link_counter FROM tools.config',
    family: 'tools',
    created: 'created_at_block',
  },
]

/**
 * SQL condition that the rows of a family are known since the chain began: its reader started at the first block, the
 * family was not added later, and no block was left out.
 */
export const knownFromFirst = (family: string): string => `
  EXISTS (SELECT 1 FROM chain.sources s JOIN chain.readers r ON r.name = s.reader
    LEFT JOIN chain.imports i ON i.reader = s.reader
    WHERE s.family = '${family}' AND s.first_block IS NULL AND i.history_since IS NULL
      AND (r.start_block <= 1 OR i.reader IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM chain.gaps g WHERE g.reader = s.reader))`

/**
 * The ids of a table have no gap up to the contract's counter. They begin with the first one of the contract where the
 * database knows the family from the first block on, else with the smallest one whose creation it knows.
 */
function dense({ table, id, first, next, family, created }: Numbered): DerivedRule {
  const since = `(SELECT CASE WHEN ${knownFromFirst(family)} THEN ${first}
    ELSE (SELECT min(${id}) FROM ${table} WHERE ${created} > 0) END)`
  return {
    rule: `${table} has every ${id} that the contract has given out`,
    covers: { [table]: [id] },
    violations: `
      WITH ids AS (
        SELECT ${id}::numeric AS id, lead(${id}::numeric) OVER (ORDER BY ${id}) AS following FROM ${table} WHERE ${id} >= ${since}
        UNION ALL SELECT ${since}::numeric - 1, (SELECT min(${id}) FROM ${table} WHERE ${id} >= ${since}))
      SELECT concat_ws(' ', '${id}', id + 1, 'to', coalesce(following, c.next) - 1)
      FROM ids CROSS JOIN (${next}) c(next) WHERE c.next IS NOT NULL AND coalesce(following, c.next) <> id + 1
        AND NOT EXISTS (SELECT 1 FROM chain.gaps)`,
  }
}

/** Ids that contracts give out one after the other. */
export const idRules: readonly DerivedRule[] = numbered.map(dense)
