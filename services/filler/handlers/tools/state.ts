import type { Query } from '../handler.ts'

/** Handler state between blocks. */
export interface ToolsState {
  /** Links that were indexed before their assets: the assets are known now, so the collections can be completed. */
  readonly completable: readonly bigint[]
}

/** State without links to complete. */
export const emptyToolsState: ToolsState = { completable: [] }

/**
 * Finds links that were indexed before their assets, because this reader was ahead of the reader of the assets
 * contract.
 */
export async function loadToolsState(query: Query): Promise<ToolsState> {
  const rows = await query<{ link_id: bigint }>(`
    SELECT l.link_id FROM tools.links l
    WHERE l.has_unknown_assets AND NOT EXISTS (
      SELECT FROM unnest(l.asset_ids) g(id) WHERE NOT EXISTS (SELECT FROM assets.assets a WHERE a.asset_id = g.id))
    ORDER BY l.link_id`)
  return { completable: rows.map(({ link_id }) => link_id) }
}
