import { restoreOldDump } from '../../scripts/bench/old-dump.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseDump } from '../integration/database-dump.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

/** A database with a dump of eosio-contract-api or of its successor. */
export async function restoreOldDatabase(dump: 'main-740' | 'v2-964' = 'main-740'): Promise<TestDatabase> {
  const database = await createTestDatabase('template0')
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await restoreOldDump(client, dump)
  await client.end()
  return database
}

/** A dump without who pays for rows, which the source does not keep, and without the note of the import itself. */
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

/** Account names are never quoted, and neither is anything before them in a row of these tables. */
function replaceValue(row: string, column: number): string {
  const values = row.split(',')
  values[column] = '?'
  return values.join(',')
}
