import { raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { rowsOfDrivers } from '../../../planner/sources/index.ts'
import type { Branch, DrivenRows, Source } from '../../../planner/sources/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { SCHEMAS } from '../tables.ts'

/** Name in the asset's own attributes. */
export const OWN_NAME = sql`coalesce(a.immutable_data ->> 'name', a.mutable_data ->> 'name')`
/**
 * First characters of the asset's own name, as indexed: a B-tree entry holds at most 2.7 kB, and names can be longer.
 */
export const OWN_NAME_HEAD = sql`left(${OWN_NAME}, 100) COLLATE "C"`

/**
 * FROM item of the assets `a` of a template, `t`, in the order of their ids. OFFSET 0 is an optimization fence:
 * without it a generic plan scans the index of a check once for each template.
 */
const OF_ONE_TEMPLATE = raw(`(SELECT a.* FROM assets.assets a WHERE a.template_id = t.template_id
  ORDER BY a.asset_id OFFSET 0) a`)

/** Assets `a` of templates `t`, one template after the other. */
export function assetsOfTemplates(rows: Omit<DrivenRows, 'from' | 'key'>): Sql {
  return rowsOfDrivers({ ...rows, from: OF_ONE_TEMPLATE, key: raw('a.asset_id') })
}

/**
 * Last segment of an order: assets whose sort value is NULL, by id.
 * @param type of the value.
 */
export function assetsWithoutValue(type: string, conditions: readonly Sql[], share: number): Branch {
  return { rank: 1, column: 'asset_id', direction: 'ASC', value: raw(`NULL::${type}`), conditions, share }
}

/** Assets `a` with the indexes that serve lists of assets. */
export function assetSource(statistics: Statistics): Source {
  return {
    from: raw('assets.assets a'),
    alias: 'a',
    key: 'asset_id',
    indexes: [
      { name: 'assets_pkey', columns: ['asset_id'] },
      { name: 'assets_owner_idx', columns: ['owner', 'asset_id'] },
      { name: 'assets_held_idx', columns: ['owner', 'schema_key', 'template_id'] },
      { name: 'assets_schema_idx', columns: ['schema_key', 'asset_id'] },
      { name: 'assets_schema_updated_idx', columns: ['schema_key', 'updated_at_time', 'asset_id'] },
      { name: 'assets_of_template_idx', columns: ['template_id', 'asset_id'], includes: ['owner'] },
      { name: 'assets_mint_idx', columns: ['template_mint', 'asset_id'] },
      { name: 'assets_updated_idx', columns: ['updated_at_time', 'asset_id'] },
      { name: 'assets_transferred_idx', columns: ['transferred_at_time', 'asset_id'] },
      { name: 'assets_name_idx', columns: ['schema_key', 'own_name', 'asset_id'] },
    ],
    ranges: {
      schema_key: {
        column: 'schema_key',
        values: raw('SELECT s.schema_key AS value FROM assets.schemas s'),
        type: 'bigint',
        count: statistics.rows(SCHEMAS),
      },
    },
  }
}
