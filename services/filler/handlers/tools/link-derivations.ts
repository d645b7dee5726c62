import type { Aggregate, Derivation, RowSink } from '../../rows/operations.ts'
import { toolsTables } from '../../../core/model/tables/index.ts'
import type { RowOf } from '../../../core/model/index.ts'

interface LinkContents {
  link_id: bigint
  collection_names: string[]
  has_unknown_assets: boolean
}

/**
 * Query for claim links whose stored collections differ from the collections of their assets.
 * @param condition on the claim links, alias `l`.
 */
function outdatedLinks(condition: string): string {
  return `
    SELECT l.link_id, v.collection_names, v.has_unknown_assets
    FROM tools.links l CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(DISTINCT a.collection_name) FILTER (WHERE a.asset_id IS NOT NULL), '{}') AS collection_names,
        count(*) > count(a.asset_id) AS has_unknown_assets
      FROM unnest(l.asset_ids) g(id) LEFT JOIN assets.assets a ON a.asset_id = g.id
    ) v
    WHERE ${condition} AND (l.collection_names, l.has_unknown_assets) IS DISTINCT FROM (v.collection_names, v.has_unknown_assets)
    ORDER BY l.link_id`
}

function writeContents(rows: readonly LinkContents[], sink: RowSink): void {
  for (const { link_id, ...known } of rows) sink.patch(toolsTables.links, { link_id }, known)
}

/**
 * Derives the collections of the assets of a claim link when the link changes, as far as the database has the assets.
 */
export const linkCollections: Derivation<LinkContents> = {
  kind: 'derivation',
  name: 'collections of links',
  keys: 'bigint',
  sources: [],
  statement: outdatedLinks('l.link_id = ANY($1::bigint[])'),
  apply: writeContents,
}

/**
 * Maximum number of claim links with unknown assets that one commit rechecks. Each claim link costs one index scan per
 * asset.
 */
const LINKS_AT_ONCE = 1_000
/** Maximum distance in blocks between the newest claim link and the claim links that are rechecked because of forks. */
const FORKED_BLOCKS = 1_000

/**
 * Derives the collections of claim links whose assets another reader indexes. The other reader may be behind, or
 * temporarily on another branch, where an asset id has another collection. Therefore every commit rechecks two kinds of
 * claim links: those with unknown assets whose block the reader of the assets has reached, and those of blocks that
 * either reader may still undo.
 */
export const laterCollections: Derivation<LinkContents> = {
  kind: 'derivation',
  name: 'collections of links whose assets another reader indexes',
  keys: 'none',
  sources: [],
  statement: `
    WITH positions AS (
      SELECT s.family, r.block_num, (SELECT min(b.block_num) FROM chain.reversible_blocks b WHERE b.reader = s.reader) AS first
      FROM chain.sources s JOIN chain.readers r ON r.name = s.reader WHERE s.family IN ('assets', 'tools')),
    bounds AS (
      SELECT greatest(min(first), max(block_num) FILTER (WHERE family = 'tools') - ${FORKED_BLOCKS}) AS first,
        max(block_num) FILTER (WHERE family = 'assets') AS reached FROM positions),
    looked AS (
      (SELECT l.link_id FROM tools.links l WHERE l.has_unknown_assets AND l.created_at_block <= (SELECT reached FROM bounds)
        ORDER BY l.created_at_block DESC LIMIT ${LINKS_AT_ONCE})
      UNION
      SELECT l.link_id FROM tools.links l WHERE l.link_id > coalesce((
        SELECT o.link_id FROM tools.links o WHERE o.created_at_block < (SELECT first FROM bounds) ORDER BY o.link_id DESC LIMIT 1), -1))
    ${outdatedLinks('$1::bigint + $2::bigint IS NOT NULL AND l.link_id = ANY(ARRAY(SELECT link_id FROM looked))')}`,
  apply: writeContents,
}

/** Counts claim links by state. */
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
