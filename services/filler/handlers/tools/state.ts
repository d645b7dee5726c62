import type { Query } from '../handler.ts'

/** State of the handler between blocks. */
export interface ToolsState {
  /** Links with assets that were unknown when they were indexed and are known now: their collections follow. */
  readonly completable: readonly bigint[]
}

/** Nothing to remember. */
export const emptyToolsState: ToolsState = { completable: [] }

/** Reads the links that were indexed before their assets, by a reader that was ahead of the assets' own. */
export async function loadToolsState(query: Query): Promise<ToolsState> {
  const rows = await query<{ link_id: bigint }>(`
    SELECT l.link_id FROM tools.links l
    WHERE l.has_unknown_assets AND NOT EXISTS (
      SELECT FROM unnest(l.asset_ids) g(id) WHERE NOT EXISTS (SELECT FROM assets.assets a WHERE a.asset_id = g.id))
    ORDER BY l.link_id`)
  return { completable: rows.map(({ link_id }) => link_id) }
}
