import type { KeyedTable } from '../../../core/model/index.ts'
import type { Completion, DerivedStep } from '../../rows/operations.ts'
import { bundles, tables } from './tables.ts'
import type { ListedAssets, TemplateBuyofferRow } from './tables.ts'

/** Asset columns that listings copy. */
interface AssetFact {
  key: bigint
  template_id: number | null
  template_mint: number | null
  schema_name: string
  name: string | null
  traits: readonly number[]
}

/**
 * SQL for the prefilter traits of an asset row `a`. Repeats the body of market.asset_traits: a function call per asset
 * takes several times as long.
 */
export const TRAITS_OF_ASSET = `
  array_remove(ARRAY(SELECT x.trait FROM market.each_trait(a.immutable_data) x(trait))
    || market.trait('minter', a.minter) || market.trait('receiver', a.initial_receiver), NULL)`

const assetFacts = `
  SELECT a.asset_id AS key, a.template_id, a.template_mint, a.schema_name,
    market.asset_name(t.immutable_data, a.immutable_data, a.mutable_data, t.mutable_data) AS name,
    ${TRAITS_OF_ASSET} AS traits
  FROM assets.assets a LEFT JOIN assets.templates t ON t.template_id = a.template_id
  WHERE a.asset_id = ANY($1::bigint[])`

/**
 * Placeholder values for the columns of a new listing that describe its assets. `listedAssets` replaces the
 * placeholders when the row is written.
 */
export function listAssets(assetIds: readonly bigint[]): ListedAssets {
  return {
    template_id: null,
    min_mint: null,
    max_mint: null,
    asset_count: assetIds.length,
    schema_name: null,
    name: null,
    asset_names: null,
    asset_ids: assetIds,
    template_ids: null,
    schema_names: null,
    traits: [],
  }
}

/** Fills in the columns of a listing that describe its assets. Assets that are not in `facts` are ignored. */
function completeListing(row: ListedAssets, facts: ReadonlyMap<bigint, AssetFact>): void {
  const known = row.asset_ids.flatMap((id) => facts.get(id) ?? [])
  const mints = known.flatMap((fact) => fact.template_mint ?? [])
  const names = new Set(known.flatMap((fact) => fact.name ?? []))
  row.min_mint = mints.length > 0 ? mints.reduce((a, b) => Math.min(a, b)) : null
  row.max_mint = mints.length > 0 ? mints.reduce((a, b) => Math.max(a, b)) : null
  row.traits = ascending(known.flatMap((fact) => fact.traits))
  row.name = facts.get(row.asset_ids[0] ?? -1n)?.name ?? null
  row.asset_names = names.size > 0 ? [...names].join('\n') : null
  if (row.asset_ids.length === 1) {
    row.template_id = known[0]?.template_id ?? null
    row.schema_name = known[0]?.schema_name ?? null
  } else {
    row.template_ids = ascending(known.flatMap((fact) => fact.template_id ?? []))
    row.schema_names = [...new Set(known.map((fact) => fact.schema_name))].sort()
  }
}

/** Distinct numbers in ascending order. */
export function ascending(numbers: readonly number[]): bigint[] {
  return [...new Set(numbers)].sort((a, b) => a - b).map(BigInt)
}

function assetsIn<Row extends ListedAssets>(table: KeyedTable<Row>): Completion<Row, AssetFact> {
  return {
    kind: 'completion',
    name: `assets of ${table.name}`,
    table,
    keysOf: (row) => row.asset_ids,
    statement: assetFacts,
    complete: completeListing,
  }
}

/** Fills in the asset columns of new listings that contain asset ids. */
export const listedAssets: readonly DerivedStep[] = bundles.map(({ table }) => assetsIn(table))

/** Fills in schema and name of the template in new template buy offers. */
export const wantedTemplates: Completion<
  TemplateBuyofferRow,
  { key: bigint; schema_name: string; name: string | null }
> = {
  kind: 'completion',
  name: 'templates of template buy offers',
  table: tables.templateBuyoffers,
  keysOf: (row) => [BigInt(row.template_id)],
  statement: `
    SELECT t.template_id::bigint AS key, t.schema_name,
      market.asset_name(t.immutable_data, NULL, NULL, t.mutable_data) AS name
    FROM assets.templates t WHERE t.template_id = ANY($1::bigint[]::integer[])`,
  complete: (row, facts) => {
    const fact = facts.get(BigInt(row.template_id))
    row.schema_name = fact?.schema_name ?? null
    row.name = fact?.name ?? null
  },
}
