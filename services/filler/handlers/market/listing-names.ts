import type { Derivation, KeyOf, RowSink } from '../../rows/operations.ts'
import type { KeyedTable } from '../../../core/model/index.ts'
import { bundles, kinds, tables } from './tables.ts'

const MERGED = 'market.asset_name(t.immutable_data, a.immutable_data, a.mutable_data, t.mutable_data)'

/** SQL for the names of the assets of a listing `l`, in order. Assets that the database does not know are skipped. */
const namesOf = `
  SELECT min(n.name) FILTER (WHERE n.place = 1) AS name, string_agg(n.name, E'\\n' ORDER BY n.place) FILTER (WHERE n.is_first) AS asset_names
  FROM (
    SELECT g.place, ${MERGED} AS name, row_number() OVER (PARTITION BY ${MERGED} ORDER BY g.place) = 1 AS is_first
    FROM unnest(l.asset_ids) WITH ORDINALITY g(id, place) JOIN assets.assets a ON a.asset_id = g.id
    LEFT JOIN assets.templates t ON t.template_id = a.template_id
  ) n`

interface Names {
  name: string | null
  asset_names: string | null
}

/** Creates the derivation of the asset names in one listing table. */
function namesIn<R extends Names>(
  table: KeyedTable<R>,
  id: string,
): Derivation<Names & { listing_id: bigint }> {
  return {
    kind: 'derivation',
    name: `names in ${table.name}`,
    keys: 'bigint',
    sources: [],
    statement: `
      SELECT l.${id} AS listing_id, v.name, v.asset_names FROM ${table.name} l CROSS JOIN LATERAL (${namesOf}) v
      WHERE l.${id} = ANY($1::bigint[]) AND (l.name, l.asset_names) IS DISTINCT FROM (v.name, v.asset_names) ORDER BY 1`,
    apply: (rows, sink) => {
      for (const { listing_id, ...names } of rows)
        sink.patch(table, { [id]: listing_id } as KeyOf<R>, names as Partial<R>)
    },
  }
}

const templateBuyofferNames: Derivation<{ buyoffer_id: bigint; name: string | null }> = {
  kind: 'derivation',
  name: 'names in market.template_buyoffers',
  keys: 'bigint',
  sources: [],
  statement: `
    SELECT l.buyoffer_id, ${MERGED} AS name FROM market.template_buyoffers l
    LEFT JOIN assets.assets a ON a.asset_id = l.asset_id
    LEFT JOIN assets.templates t ON t.template_id = coalesce(a.template_id, l.template_id)
    WHERE l.buyoffer_id = ANY($1::bigint[]) AND l.name IS DISTINCT FROM ${MERGED} ORDER BY 1`,
  apply: (rows, sink) => {
    for (const { buyoffer_id, name } of rows) sink.patch(tables.templateBuyoffers, { buyoffer_id }, { name })
  },
}

/** Derivations of the asset names in all listing tables. */
export const listingNames: readonly Derivation[] = [
  ...bundles.map(({ table, id }) => namesIn(table, id)),
  templateBuyofferNames,
]

const namesOfKind = new Map<number, Derivation>([
  ...bundles.map(({ kind }, place) => [kind, listingNames[place]!] as const),
  [kinds.templateBuyoffer, templateBuyofferNames],
])

interface Touched {
  kind: number
  listing_id: bigint
}

function recheckNames(rows: readonly Touched[], sink: RowSink): void {
  for (const { kind, listing_id } of rows) sink.recheck(namesOfKind.get(kind)!, listing_id)
}

/** Rechecks the names of listings whose assets were edited. */
export const editedAssets: Derivation<Touched> = {
  kind: 'derivation',
  name: 'listings of edited assets',
  keys: 'bigint',
  sources: [{ table: 'assets.assets', columns: ['mutable_data'], key: 'asset_id' }],
  statement: `
    SELECT DISTINCT kind, listing_id FROM market.listing_assets WHERE asset_id = ANY($1::bigint[])`,
  apply: recheckNames,
}

/**
 * Rechecks the names of listings whose templates were edited (contract v2). Only templates with a mutable name matter:
 * an immutable name takes precedence. Such templates are rare, so the statement scans all assets of the template.
 */
export const editedTemplates: Derivation<Touched> = {
  kind: 'derivation',
  name: 'listings of edited templates',
  keys: 'bigint',
  sources: [{ table: 'assets.templates', columns: ['mutable_data'], key: 'template_id' }],
  statement: `
    WITH renamed AS MATERIALIZED (
      SELECT template_id FROM assets.templates WHERE template_id = ANY($1::bigint[]::integer[]) AND NOT (immutable_data ? 'name')
    )
    SELECT x.kind, x.listing_id FROM renamed r JOIN assets.assets a USING (template_id) JOIN market.listing_assets x USING (asset_id)
    UNION SELECT ${kinds.templateBuyoffer}, l.buyoffer_id FROM renamed r JOIN market.template_buyoffers l ON l.template_id = r.template_id`,
  apply: recheckNames,
}
