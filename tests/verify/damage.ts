/**
 * An SQL statement that changes a row, and the table and kind under which a report names the row. The statement returns
 * the key in the form of the reports.
 */
export interface Damage {
  readonly table: string
  readonly kind: 'differs' | 'missing' | 'extra'
  readonly text: string
}

const first = (table: string, key: string, condition = 'true') =>
  `(SELECT min(${key}) FROM ${table} WHERE ${condition})`

/** Twelve damaged rows over all families. The changed columns affect no derived value. */
export const damages: readonly Damage[] = [
  {
    table: 'assets.config',
    kind: 'differs',
    text: 'UPDATE assets.config SET offer_counter = offer_counter + 1 RETURNING contract AS key',
  },
  {
    table: 'assets.collections',
    kind: 'differs',
    text: `UPDATE assets.collections SET data = data || '{"name": "someone else"}' WHERE collection_name = ${first('assets.collections', 'collection_name')} RETURNING collection_name AS key`,
  },
  {
    table: 'assets.schemas',
    kind: 'differs',
    text: `UPDATE assets.schemas SET format = format || '[{"name": "besides", "type": "string"}]' WHERE schema_key = ${first('assets.schemas', 'schema_key')} RETURNING collection_name || '/' || schema_name AS key`,
  },
  {
    table: 'assets.templates',
    kind: 'differs',
    text: `UPDATE assets.templates SET max_supply = max_supply + 1 WHERE template_id = ${first('assets.templates', 'template_id', 'deleted_at_block IS NULL')} RETURNING template_id::text AS key`,
  },
  {
    table: 'assets.assets',
    kind: 'differs',
    text: `UPDATE assets.assets SET ram_payer = 'nobody' WHERE asset_id = ${first('assets.assets', 'asset_id', 'owner IS NOT NULL')} RETURNING asset_id::text AS key`,
  },
  {
    table: 'assets.offers',
    kind: 'differs',
    text: `UPDATE assets.offers SET memo = memo || ' and more' WHERE offer_id = ${first('assets.offers', 'offer_id', 'state IN (0, 1)')} RETURNING offer_id::text AS key`,
  },
  {
    table: 'market.sales',
    kind: 'differs',
    text: `UPDATE market.sales SET collection_fee = collection_fee + 0.001 WHERE sale_id = ${first('market.sales', 'sale_id', 'state IN (0, 1, 4)')} RETURNING sale_id::text AS key`,
  },
  {
    table: 'market.marketplaces',
    kind: 'missing',
    text: `DELETE FROM market.marketplaces WHERE marketplace_name = (SELECT max(marketplace_name) FROM market.marketplaces) RETURNING marketplace_name AS key`,
  },
  {
    table: 'market.balances',
    kind: 'differs',
    text: `UPDATE market.balances SET amount = amount + 1 WHERE (owner, token_symbol) = (SELECT owner, token_symbol FROM market.balances ORDER BY 1, 2 LIMIT 1) RETURNING owner AS key`,
  },
  {
    table: 'market.counters',
    kind: 'extra',
    text: `INSERT INTO market.counters VALUES ('nothing', 7) RETURNING counter_name AS key`,
  },
  {
    table: 'oracle.datapoints',
    kind: 'differs',
    text: `UPDATE oracle.datapoints SET owner = 'nobody' WHERE (pair_name, id) = (SELECT pair_name, id FROM oracle.datapoints ORDER BY 1, 2 LIMIT 1) RETURNING pair_name || '/' || id AS key`,
  },
  {
    table: 'tools.links',
    kind: 'differs',
    text: `UPDATE tools.links SET creator = 'nobody' WHERE link_id = ${first('tools.links', 'link_id', 'state IN (0, 1)')} RETURNING link_id::text AS key`,
  },
]
