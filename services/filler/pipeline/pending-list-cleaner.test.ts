import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase } from '../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../tests/setup/database.ts'
import { connectDatabase } from '../../core/database/index.ts'
import { createLogger } from '../../core/log/index.ts'
import { pause } from '../../core/retry/index.ts'
import { PendingListCleaner } from './pending-list-cleaner.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
const settings = { name: 'test-1', contracts: [{ handler: 'assets', args: {} }] }

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query('CREATE EXTENSION pageinspect')
  await client.query('CREATE INDEX accounts_name_idx ON assets.accounts USING gin (account gin_trgm_ops)')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

async function readPending(): Promise<number> {
  const { rows } = await client.query<{ pages: bigint }>(
    "SELECT n_pending_pages AS pages FROM gin_metapage_info(get_raw_page('assets.accounts_name_idx', 0))",
  )
  return Number(rows[0]!.pages)
}

async function untilEmpty(): Promise<void> {
  while ((await readPending()) > 0) await pause(10)
}

const addAccounts = (prefix: string) =>
  client.query(`INSERT INTO assets.accounts SELECT '${prefix}' || n, 1 FROM generate_series(1, 500) n`)

it('the cleaner empties pending lists again and again, also after its session was ended, until it is stopped', async () => {
  const cleaner = new PendingListCleaner(
    { database: database.address, logger, settings },
    { intervalMs: 20, firstRetryMs: 20 },
  )
  await addAccounts('before')
  expect(await readPending()).toBeGreaterThan(0)
  cleaner.start()
  await untilEmpty()
  await addAccounts('between')
  await untilEmpty()
  const { rowCount } = await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'pronghorn pending lists test-1'`,
  )
  expect(rowCount).toBe(1)
  await addAccounts('after')
  await untilEmpty()
  await cleaner.stop()
  await addAccounts('last')
  await pause(200)
  expect(await readPending()).toBeGreaterThan(0)
})
