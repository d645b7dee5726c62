import { restoreOldDump } from '../../scripts/bench/old-dump.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

/** A database that eosio-contract-api filled from blocks 1 to 740 of the recording `main`. */
export async function restoreOldDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase('template0')
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await restoreOldDump(client)
  await client.end()
  return database
}
