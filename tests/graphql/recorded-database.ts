import type pg from 'pg'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { buildQueryIndexes, connectDatabase, listIndexFamilies } from '../../services/core/database/index.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'

/** Last block of the database that docs/graphql.md and docs/queries.md answer from: one sale is listed, auctions have bids. */
const RECORDED_BLOCK = 447

/** The recorded chain until `RECORDED_BLOCK`, with query indexes. */
export interface RecordedDatabase {
  readonly address: DatabaseAddress
  readonly client: pg.Client
  drop(): Promise<void>
}

/** Indexes the recorded chain `main` into its own database. */
export async function createRecordedDatabase(): Promise<RecordedDatabase> {
  const database = await createTestDatabase()
  const running = await startChain({ recordings: ['main'], replay: 'history' })
  try {
    await indexUntil(running, database.address, RECORDED_BLOCK)
  } finally {
    await running.chain.stop()
  }
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
  await client.query('ANALYZE')
  return {
    address: database.address,
    client,
    async drop() {
      await client.end()
      await database.drop()
    },
  }
}
