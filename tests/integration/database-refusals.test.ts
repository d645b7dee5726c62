import { afterEach, beforeEach, expect, it } from 'vitest'
import type pg from 'pg'
import { connectDatabase, listMissingIndexes } from '../../services/core/database/index.ts'
import { remedyOf } from '../../services/core/errors/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import type { ReaderStatus } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

const HEAD = 700
let database: TestDatabase
let running: TestChain
let admin: pg.Client
let ending: AbortController
const lines: string[] = []
const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } })

beforeEach(async () => {
  database = await createTestDatabase()
  running = await startChain({ recordings: ['main'] })
  admin = await connectDatabase(database.address, { applicationName: 'test' })
  ending = new AbortController()
  lines.length = 0
})
afterEach(async () => {
  ending.abort()
  await admin.end()
  await running.chain.stop()
  await database.drop()
})

/** Makes the database refuse positions from block 300 on, with an SQLSTATE and a message. */
async function refuseWith(state: string, message: string): Promise<void> {
  await admin.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION USING ERRCODE = '${state}', MESSAGE = '${message}'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON chain.readers FOR EACH ROW WHEN (NEW.block_num >= 300)
    EXECUTE FUNCTION refuse()`)
}

it.each([
  [
    'a full disk',
    '53100',
    'could not extend file "base/5/16384": No space left on device',
    'DISK_FULL',
    'the disk of the database is full',
  ],
  [
    'a server that takes no writes',
    '25006',
    'cannot execute UPDATE in a read-only transaction',
    'DATABASE_READ_ONLY',
    'the database accepts no writes',
  ],
] as const)(
  'health and log report %s, and the reader continues once the database accepts writes again',
  async (_, state, message, code, summary) => {
    await refuseWith(state, message)
    const statuses: ReaderStatus[] = []
    const reading = indexUntil(running, database.address, HEAD, {
      options: {
        logger,
        onStatus: (status) => statuses.push(status),
        retry: { attempts: 1_000, firstMs: 50, longestMs: 50 },
      },
    })
    await expect.poll(() => statuses.at(-1)?.problem?.summary).toBe(summary)
    expect(statuses.at(-1)?.problem?.detail).toContain(message)
    const readProblem = async () => {
      const { rows } = await admin.query<{ problem: string | null }>('SELECT problem FROM chain.heartbeats')
      return rows[0]?.problem
    }
    await expect.poll(readProblem).toBe(summary)
    const messages = (): string[] => lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    const repetition = `reading is still interrupted (${code})`
    await expect
      .poll(() => messages().filter((text) => text === repetition).length, { timeout: patient(20_000) })
      .toBeGreaterThan(1)
    expect(messages().filter((text) => text.includes(message))).toEqual([
      expect.stringContaining(remedyOf(code, 'process')),
    ])
    expect(lines.join('')).not.toContain('"stack"')
    await admin.query('DROP TRIGGER refuse ON chain.readers')
    await reading
    const { rows } = await admin.query<{ num: number }>('SELECT block_num AS num FROM chain.readers')
    expect(rows).toEqual([{ num: HEAD }])
  },
)

it('a failed index build is tried again without a restart', async () => {
  const name = (await listMissingIndexes(admin, 'assets'))[0]!
  // An index and a table cannot have the same name, so building this index fails.
  await admin.query(`CREATE TABLE assets.${name} ()`)
  const reading = indexUntil(running, database.address, 0, {
    signal: ending.signal,
    settings: { contracts: testSettings.contracts.slice(0, 1) },
    options: { logger, buildQueryIndexes: true, indexRetryMs: 100 },
  })
  await expect
    .poll(() => lines.filter((line) => line.includes('query indexes could not be built')).length)
    .toBeGreaterThan(1)
  await admin.query(`DROP TABLE assets.${name}`)
  await expect.poll(() => listMissingIndexes(admin, 'assets')).toEqual([])
  ending.abort()
  await reading
})
