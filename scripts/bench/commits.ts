import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/** Interval between two commits, ms: two a second, as on a chain. */
const EVERY_MS = 500

/**
 * Updates adjacent assets (about twenty of a million) and their templates without changing values: creates new row
 * versions.
 */
const COMMIT = `
  WITH moved AS (SELECT asset_id, template_id FROM assets.assets TABLESAMPLE SYSTEM (0.002)),
    assets AS (UPDATE assets.assets SET owner = owner WHERE asset_id IN (SELECT asset_id FROM moved))
  UPDATE assets.templates SET issued_supply = issued_supply WHERE template_id IN (SELECT template_id FROM moved)`

/**
 * Commits twice a second in a session of its own, so that the versions of cached records change.
 * @returns a function that stops the commits.
 */
export async function startCommits(address: DatabaseAddress): Promise<() => Promise<void>> {
  const database = await connectDatabase(address, { applicationName: 'bench' })
  let last: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    last = last.then(() => database.query(COMMIT))
  }, EVERY_MS)
  return async () => {
    clearInterval(timer)
    await last
    await database.end()
  }
}
