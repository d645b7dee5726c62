import { restoreOldDump } from '../../scripts/bench/old-dump.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseDump } from '../integration/database-dump.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

/** Restores a dump of eosio-contract-api or atomicassets-api into a new database. */
export async function restoreOldDatabase(dump: 'main-740' | 'v2-964' = 'main-740'): Promise<TestDatabase> {
  const database = await createTestDatabase('template0')
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await restoreOldDump(client, dump)
  await client.end()
  return database
}

/** Removes RAM payers, which the source does not store, and `chain.imports` from a dump. */
export function withoutPayers(dump: DatabaseDump): DatabaseDump {
  const without = new Map(dump)
  without.delete('chain.imports')
  for (const table of ['assets.assets', 'assets.offers', 'undo.assets_assets', 'undo.assets_offers']) {
    const [head, ...rows] = dump.get(table)!
    const column = head!.slice(1, -1).split(',').indexOf('ram_payer')
    without.set(table, [head!, ...rows.map((row) => replaceValue(row, column))])
  }
  return without
}

/**
 * Replaces a value of a row. In the changed tables, neither account names nor the values before them are quoted, so the
 * row can be split at commas.
 */
function replaceValue(row: string, column: number): string {
  const values = row.split(',')
  values[column] = '?'
  return values.join(',')
}
