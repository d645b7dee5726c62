import { counterStatements } from '../counter-statements.ts'
import type { ImportStep, ImportWorker } from './workers.ts'

/**
 * Sets `template_mint` of all assets of a template if the source database lacks the mint number of any of them. The
 * contract numbers the assets of a template in the order of their ids, so the mint number is the rank of the asset id.
 */
export const NUMBER_MINTS = `
  UPDATE assets.assets a SET template_mint = n.place
  FROM (
    SELECT m.asset_id, row_number() OVER (PARTITION BY m.template_id ORDER BY m.asset_id)::integer AS place
    FROM assets.assets m
    WHERE m.template_id IN (SELECT DISTINCT u.template_id FROM assets.assets u WHERE u.template_mint IS NULL AND u.template_id IS NOT NULL)
  ) n
  WHERE n.asset_id = a.asset_id AND a.template_mint IS DISTINCT FROM n.place`

/** Steps that fill the counter tables of the assets family. */
export function counterSteps(): ImportStep[] {
  return counterStatements().map(({ table, statement }) => ({
    name: table,
    run: async ({ target }) => (await target.query(statement)).rowCount ?? 0,
  }))
}

/**
 * Deletes the logged announcements of buy offers that have no row. Such announcements are forged: old contract code let
 * any account send the action, and the source database contains these actions.
 *
 * @returns number of deleted logs.
 */
export async function removeForgedLogs({ target }: ImportWorker): Promise<number> {
  const { rowCount } = await target.query(
    `DELETE FROM market.logs l WHERE (l.action = 40 AND NOT EXISTS (SELECT 1 FROM market.buyoffers b WHERE b.buyoffer_id = l.subject))
       OR (l.action = 60 AND NOT EXISTS (SELECT 1 FROM market.template_buyoffers b WHERE b.buyoffer_id = l.subject))`,
  )
  return rowCount ?? 0
}
