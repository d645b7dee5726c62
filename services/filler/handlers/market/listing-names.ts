import type { Derivation, RowSink } from '../../store/index.ts'
import { kinds, tables } from './tables.ts'

/** Names of a listing that are not what its assets say now. */
interface StaleNames {
  kind: number
  listing_id: bigint
  name: string | null
  asset_names: string | null
}

const merged = 'market.asset_name(t.immutable_data, a.immutable_data, a.mutable_data, t.mutable_data)'

/** Names of the assets of a listing `l`, in order, without those that the database does not know. */
const namesOf = `
  SELECT min(n.name) FILTER (WHERE n.place = 1) AS name, string_agg(n.name, E'\\n' ORDER BY n.place) FILTER (WHERE n.is_first) AS asset_names
  FROM (
    SELECT g.place, ${merged} AS name, row_number() OVER (PARTITION BY ${merged} ORDER BY g.place) = 1 AS is_first
    FROM unnest(l.asset_ids) WITH ORDINALITY g(id, place) JOIN assets.assets a ON a.asset_id = g.id
    LEFT JOIN assets.templates t ON t.template_id = a.template_id
  ) n`

function staleListings(kind: number, table: string, key: string, found: string): string {
  return `
    SELECT ${kind} AS kind, l.${key} AS listing_id, v.name, v.asset_names
    FROM ${found} f JOIN ${table} l ON l.${key} = f.listing_id CROSS JOIN LATERAL (${namesOf}) v
    WHERE (l.name, l.asset_names) IS DISTINCT FROM (v.name, v.asset_names)`
}

const staleTemplateBuyoffers = (found: string) => `
  SELECT ${kinds.templateBuyoffer} AS kind, l.buyoffer_id AS listing_id, ${merged} AS name, NULL AS asset_names
  FROM ${found} f JOIN market.template_buyoffers l ON l.buyoffer_id = f.listing_id
  LEFT JOIN assets.assets a ON a.asset_id = l.asset_id
  LEFT JOIN assets.templates t ON t.template_id = coalesce(a.template_id, l.template_id)
  WHERE l.name IS DISTINCT FROM ${merged}`

function staleNames(found: (kind: number) => string): string {
  return [
    staleListings(kinds.sale, 'market.sales', 'sale_id', found(kinds.sale)),
    staleListings(kinds.auction, 'market.auctions', 'auction_id', found(kinds.auction)),
    staleListings(kinds.buyoffer, 'market.buyoffers', 'buyoffer_id', found(kinds.buyoffer)),
    staleTemplateBuyoffers(found(kinds.templateBuyoffer)),
  ].join(' UNION ALL ')
}

function rename(rows: readonly StaleNames[], sink: RowSink): void {
  for (const { kind, listing_id, ...names } of rows) {
    if (kind === kinds.sale) sink.patch(tables.sales, { sale_id: listing_id }, names)
    else if (kind === kinds.auction) sink.patch(tables.auctions, { auction_id: listing_id }, names)
    else if (kind === kinds.buyoffer) sink.patch(tables.buyoffers, { buyoffer_id: listing_id }, names)
    else sink.patch(tables.templateBuyoffers, { buyoffer_id: listing_id }, { name: names.name })
  }
}

/** Names of listings after edits of their assets. */
export const namesAfterEdits: Derivation<StaleNames> = {
  kind: 'derivation',
  name: 'names after edits of assets',
  keys: 'bigint',
  sources: [{ table: 'assets.assets', columns: ['mutable_data'], key: 'asset_id' }],
  statement: `
    WITH touched AS MATERIALIZED (
      SELECT DISTINCT kind, listing_id FROM market.listing_assets WHERE asset_id = ANY($1::bigint[])
    ) ${staleNames((kind) => `(SELECT listing_id FROM touched WHERE kind = ${kind})`)}`,
  apply: rename,
}

/** Listings with assets of renamed templates: a name that can change is rare, the search for these need not be fast. */
const listingsOfTemplates = (kind: number) => {
  const renamed = `assets.templates r WHERE r.template_id = ANY($1::bigint[]::integer[]) AND NOT (r.immutable_data ? 'name')`
  if (kind === kinds.templateBuyoffer)
    return `(SELECT DISTINCT b.buyoffer_id AS listing_id FROM market.template_buyoffers b WHERE b.template_id IN (SELECT r.template_id FROM ${renamed}))`
  const [table, key] =
    kind === kinds.sale
      ? ['market.sales', 'sale_id']
      : kind === kinds.auction
        ? ['market.auctions', 'auction_id']
        : ['market.buyoffers', 'buyoffer_id']
  return `(SELECT DISTINCT b.${key} AS listing_id FROM ${table} b WHERE b.template_ids && ARRAY(SELECT r.template_id FROM ${renamed}))`
}

/** Names of listings after edits of their assets' templates (contract v2). */
export const namesAfterTemplateEdits: Derivation<StaleNames> = {
  kind: 'derivation',
  name: 'names after edits of templates',
  keys: 'bigint',
  sources: [{ table: 'assets.templates', columns: ['mutable_data'], key: 'template_id' }],
  statement: staleNames(listingsOfTemplates),
  apply: rename,
}
