import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import { createFillerHome } from './filler-process.ts'
import type { FillerHome } from './filler-process.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { findViolations } from '../../scripts/simulation/invariants.ts'
import { createBegunDatabase } from './indexed-database.ts'
import { PositionWatch } from './position.ts'

let database: TestDatabase
let running: TestChain
let first: FillerHome
let second: FillerHome
let watch: PositionWatch
let admin: pg.Client

beforeEach(async () => {
  database = await createBegunDatabase()
  running = await startChain({ recordings: ['main'], live: { intervalMs: 50 }, libLagBlocks: 12, rate: 3 })
  first = await createFillerHome(running, database.address)
  second = await createFillerHome(running, database.address)
  watch = await PositionWatch.open(database.address, testSettings.name)
  admin = await connectDatabase(database.address, { applicationName: 'test' })
})

afterEach(async () => {
  await admin.end()
  await watch.close()
  await first.remove()
  await second.remove()
  await running.chain.stop()
  await database.drop()
})

/** Waits until the reader has committed `blocks` more live blocks. */
async function untilMoved(blocks: number): Promise<void> {
  const from = Math.max((await watch.read())?.num ?? 0, running.chain.lib().num)
  await watch.until((position) => (position?.num ?? 0) >= from + blocks)
}

const WRITERS = `FROM pg_stat_activity a WHERE a.datname = current_database() AND a.application_name = $1`
const writerName = `pronghorn filler ${testSettings.name}`

/** Number of filler sessions in the database: the holder of the lease, and the sessions that wait for the lease. */
async function countWriters(): Promise<number> {
  const { rows } = await admin.query<{ count: bigint }>(`SELECT count(*) AS count ${WRITERS}`, [writerName])
  return Number(rows[0]!.count)
}

async function readFence(): Promise<bigint> {
  const { rows } = await admin.query<{ fence: bigint }>('SELECT fence FROM chain.leases')
  return rows[0]!.fence
}

/**
 * Terminates, at the server, the session that holds the lease, in the middle of a commit: everything but the position
 * has been written.
 */
async function cutInsideCommit(): Promise<void> {
  await admin.query('BEGIN')
  await admin.query('LOCK TABLE chain.readers IN SHARE ROW EXCLUSIVE MODE')
  const waiting = `${WRITERS} AND a.wait_event_type = 'Lock' AND a.wait_event = 'relation'`
  for (let isCut = false; !isCut;) {
    const { rows } = await admin.query(`SELECT pg_terminate_backend(a.pid) ${waiting}`, [writerName])
    isCut = rows.length === 1
  }
  await admin.query('ROLLBACK')
}

/** Pauses the chain, lets the reader reach the head, and compares with the database of an undisturbed reader. */
async function expectStraightBytes(): Promise<void> {
  running.chain.setPaused(true)
  const head = running.chain.head()
  await watch.until((position) => position?.id === head.id)
  const straight = await createBegunDatabase()
  await indexUntil(running, straight.address, head.num)
  const expected = await dumpDatabase(straight.address)
  await straight.drop()
  expect(compareDumps(expected, await dumpDatabase(database.address))).toEqual([])
}

it('a second filler exits and names the holder of the lease; the first filler continues', async () => {
  const holder = first.start()
  await untilMoved(5)
  const fence = await readFence()
  const refused = second.start()
  const before = await watch.read()
  const end = await refused.ended
  const after = await watch.read()
  expect(end).toEqual({ code: 1, signal: null })
  expect(refused.output()).toContain('READER_LEASE_HELD')
  expect(refused.output()).toMatch(new RegExp(`is being written by process ${holder.pid} on .+, since 20`))
  expect(after!.num).toBeGreaterThan(before!.num)
  expect(holder.hasEnded()).toBe(false)
  expect(await readFence()).toBe(fence)
  await untilMoved(5)
  await expectStraightBytes()
  expect(holder.output()).not.toContain('interrupted')
  expect(await holder.stop()).toEqual({ code: 0, signal: null })
})

it('a filler whose database session is cut rolls back the open commit unit, and continues with a new fence', async () => {
  const filler = first.start()
  for (let cuts = 0; cuts < 3; cuts++) {
    await untilMoved(5)
    const fence = await readFence()
    await cutInsideCommit()
    expect(await findViolations(database.address)).toEqual([])
    await untilMoved(5)
    expect(await readFence()).toBe(fence + 1n)
  }
  await expectStraightBytes()
  expect(filler.hasEnded()).toBe(false)
  expect(filler.output()).toContain('interrupted')
})

it('a filler whose database session is cut exits if another process took the lease', async () => {
  const loser = first.start()
  await untilMoved(5)
  const fence = await readFence()
  const winner = second.start()
  while ((await countWriters()) < 2) await delay(20)
  await cutInsideCommit()
  const end = await loser.ended
  expect(end).toEqual({ code: 1, signal: null })
  expect(loser.output()).toContain('READER_LEASE_HELD')
  expect(loser.output()).toContain(`is being written by process ${winner.pid} on `)
  expect(await readFence()).toBe(fence + 1n)
  await untilMoved(5)
  await expectStraightBytes()
  expect(winner.hasEnded()).toBe(false)
})
