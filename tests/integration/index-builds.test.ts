import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase, listMissingIndexes } from '../../services/core/database/index.ts'
import type { TestDatabase } from '../setup/database.ts'
import { createFillerHome } from './filler-process.ts'
import type { FillerHome } from './filler-process.ts'
import { startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { createBegunDatabase } from './indexed-database.ts'
import { PositionWatch } from './position.ts'

let database: TestDatabase
let running: TestChain
let home: FillerHome
let watch: PositionWatch
let holder: pg.Client
let admin: pg.Client

beforeEach(async () => {
  database = await createBegunDatabase()
  running = await startChain({ recordings: ['main'], live: { intervalMs: 120 }, libLagBlocks: 12, rate: 8 })
  home = await createFillerHome(running, database.address)
  watch = await PositionWatch.open(database.address, testSettings.name)
  holder = await connectDatabase(database.address, { applicationName: 'test' })
  admin = await connectDatabase(database.address, { applicationName: 'test' })
})

afterEach(async () => {
  await holder.end()
  await admin.end()
  await watch.close()
  await home.remove()
  await running.chain.stop()
  await database.drop()
})

async function untilMoved(blocks: number): Promise<void> {
  const from = Math.max((await watch.read())?.num ?? 0, running.chain.lib().num)
  await watch.until((position) => (position?.num ?? 0) >= from + blocks)
}

/** Process ids of the server's sessions that build an index, or wait to build an index. */
async function listBuilders(): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'pronghorn index builder' ORDER BY backend_start`,
  )
  return rows.map(({ pid }) => pid)
}

async function untilBuilders(hold: (pids: readonly number[]) => boolean): Promise<readonly number[]> {
  for (;;) {
    const pids = await listBuilders()
    if (hold(pids)) return pids
    await delay(20)
  }
}

it('an index build that continues after the filler was killed does not block the next filler', async () => {
  // CREATE INDEX CONCURRENTLY waits for transactions that wrote to the table, so this open transaction delays the
  // build.
  await holder.query('BEGIN; LOCK TABLE assets.assets IN ROW EXCLUSIVE MODE')
  const first = home.start()
  const orphans = await untilBuilders((pids) => pids.length === 1)
  await untilMoved(5)
  expect(await first.kill()).toBe(true)
  const second = home.start()
  await untilBuilders((pids) => pids.some((pid) => !orphans.includes(pid)))
  await untilMoved(30)
  await holder.query('ROLLBACK')
  // An index counts as missing until its build has finished.
  for (const { handler } of testSettings.contracts) {
    while ((await listMissingIndexes(admin, handler)).length > 0) await delay(50)
  }
  await untilMoved(5)
  const cleaners = await admin.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pronghorn pending lists %'`,
  )
  expect(cleaners.rowCount).toBe(1)
  const invalid = await admin.query('SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid')
  expect(invalid.rows).toEqual([])
  expect(await second.stop()).toEqual({ code: 0, signal: null })
  expect(second.output()).not.toContain('could not be built')
})
