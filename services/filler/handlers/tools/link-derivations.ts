import type { Aggregate, Derivation } from '../../rows/operations.ts'
import { toolsTables } from '../../../core/model/tables/index.ts'
import type { RowOf } from '../../../core/model/index.ts'

/**
 * Derives the collections of a link's assets. An asset never changes its collection, so unknown assets are the only
 * gap: if another reader indexes them later, a restart of this reader fills the gap.
 */
export const linkCollections: Derivation<{
  link_id: bigint
  collection_names: string[]
  has_unknown_assets: boolean
}> = {
  kind: 'derivation',
  name: 'collections of links',
  keys: 'bigint',
  sources: [],
  statement: `
    SELECT l.link_id, v.collection_names, v.has_unknown_assets
    FROM tools.links l CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(DISTINCT a.collection_name) FILTER (WHERE a.asset_id IS NOT NULL), '{}') AS collection_names,
        count(*) > count(a.asset_id) AS has_unknown_assets
      FROM unnest(l.asset_ids) g(id) LEFT JOIN assets.assets a ON a.asset_id = g.id
    ) v
    WHERE l.link_id = ANY($1::bigint[])
      AND (l.collection_names, l.has_unknown_assets) IS DISTINCT FROM (v.collection_names, v.has_unknown_assets)
    ORDER BY l.link_id`,
  apply: (rows, sink) => {
    for (const { link_id, ...known } of rows) sink.patch(toolsTables.links, { link_id }, known)
  },
}

/** Counts links by state. */
export const linkCounts: Aggregate<RowOf<typeof toolsTables.links>> = {
  kind: 'aggregate',
  name: 'links by state',
  table: toolsTables.links,
  columns: ['state'],
  apply(before, after, sink) {
    if (before?.state === after?.state) return
    if (before) sink.add(toolsTables.linkCounts, { state: before.state, links: -1n })
    if (after) sink.add(toolsTables.linkCounts, { state: after.state, links: 1n })
  },
}
