import type pg from 'pg'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'

/**
 * Last indexed block for the answers in docs/graphql.md and docs/queries.md. At this block one sale is listed and
 * auctions have bids.
 */
const RECORDED_BLOCK = 447

/** A database with the recorded chain up to `RECORDED_BLOCK` and with query indexes. */
export interface RecordedDatabase {
  readonly address: DatabaseAddress
  readonly client: pg.Client
  drop(): Promise<void>
}

/** Indexes the recorded chain `main` into its own database. */
export async function createRecordedDatabase(): Promise<RecordedDatabase> {
  const database = await createIndexedDatabase({
    chain: { recordings: ['main'], replay: 'history' },
    stopBlock: RECORDED_BLOCK,
    hasQueryIndexes: true,
  })
  const client = await connectDatabase(database.address, { applicationName: 'test' })
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
