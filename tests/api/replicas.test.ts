import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { openRequestDatabase } from '../../services/api/database/request-database.ts'
import type { RequestDatabase } from '../../services/api/database/request-database.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { startReplicatedPostgres } from '../setup/replicated-postgres.ts'
import type { ReplicatedPostgres } from '../setup/replicated-postgres.ts'

const logger = createLogger({ name: 'test', level: 'silent' })
/** Short time limits, for tests in which a replica becomes unusable. */
const replicaTiming = { lookMs: 50, lookTimeoutMs: 1_000, maxLagMs: 400, caughtUpMs: 300 }
/** Long time limits, for tests in which the replica must stay usable on a slow machine. */
const patient = { ...replicaTiming, lookTimeoutMs: 30_000, maxLagMs: 30_000, caughtUpMs: 30_000 }

let servers: ReplicatedPostgres
let writer: pg.Client
let block = 1
let database: RequestDatabase

beforeAll(async () => {
  servers = await startReplicatedPostgres()
  writer = await connect(servers.primary.address)
  // Commit asynchronously like the filler: the replica then receives the data slightly later.
  await writer.query('SET synchronous_commit = off')
  await writer.query(
    "INSERT INTO chain.readers (name, start_block, block_num, block_time, block_id) VALUES ('r', 1, 1, 0, '\\x01')",
  )
})
afterAll(async () => {
  await writer.end().catch(() => undefined)
  await servers.remove()
})
beforeEach(async () => {
  database = await open([servers.replica.address])
})
afterEach(() => database.close())

async function connect(address: DatabaseAddress): Promise<pg.Client> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  client.on('error', () => undefined)
  return client
}

function open(
  replicas: readonly DatabaseAddress[],
  timing: typeof replicaTiming = replicaTiming,
): Promise<RequestDatabase> {
  return openRequestDatabase(
    {
      address: servers.primary.address,
      replicas,
      maxConnections: 4,
      maxLists: 4,
      maxQueryTimeMs: 5_000,
      slowQueryMs: 0,
      replicaTiming: timing,
    },
    logger,
  )
}

/** Commits a new block with a new id on the primary. */
async function commitBlock(): Promise<number> {
  block++
  await writer.query(
    "UPDATE chain.readers SET block_num = $1::integer, block_id = decode(md5($1::integer::text), 'hex')",
    [block],
  )
  return block
}

/** Queries the position of the reader. Returns the block of the position, and the port of the server that answered. */
async function ask(from: RequestDatabase = database): Promise<{ block: number; port: number }> {
  const text = 'SELECT block_num, inet_server_port() FROM chain.readers'
  const rows = await from.run((session) => session.query<[number, number]>({ text, values: [] }))
  return { block: rows[0]![0], port: rows[0]![1] }
}

async function untilAskedOf(address: () => DatabaseAddress, from: RequestDatabase = database): Promise<void> {
  while ((await ask(from)).port !== address().port) await sleep(20)
}

async function onReplica(text: string): Promise<void> {
  const client = await connect(servers.replica.address)
  await client.query(text)
  await client.end()
}

function stateOfReplica(): string | undefined {
  return database.servers().find(({ server }) => server !== 'primary')?.state
}

async function untilReplicaIs(state: string): Promise<void> {
  while (stateOfReplica() !== state) await sleep(20)
}

describe('reads from a replica', () => {
  it('requests read from the replica, and never see a block older than the last published block', async () => {
    const patiently = await open([servers.replica.address], patient)
    // The replica may be behind at the first poll.
    await untilAskedOf(() => servers.replica.address, patiently)
    for (let each = 0; each < 10; each++) {
      const announced = await commitBlock()
      await patiently.caughtUp()
      const shown = await ask(patiently)
      expect(shown.block).toBeGreaterThanOrEqual(announced)
      expect(shown.port).toBe(servers.replica.address.port)
    }
    await patiently.close()
  })

  it('requests use the primary while the replica pauses its replay, and the replica after it has caught up', async () => {
    await onReplica('SELECT pg_wal_replay_pause()')
    const announced = await commitBlock()
    await database.caughtUp()
    expect(await ask()).toEqual({ block: announced, port: servers.primary.address.port })
    expect(stateOfReplica()).toBe('behind')
    await sleep(200)
    expect((await ask()).port).toBe(servers.primary.address.port)

    await onReplica('SELECT pg_wal_replay_resume()')
    await untilAskedOf(() => servers.replica.address)
    expect((await ask()).block).toBe(announced)
  })

  it('requests use the primary while the replica falls behind without an error', async () => {
    await onReplica('SELECT pg_wal_replay_pause()')
    const wait = setInterval(() => void commitBlock(), 50)
    await untilReplicaIs('behind')
    expect((await ask()).port).toBe(servers.primary.address.port)
    clearInterval(wait)
    await onReplica('SELECT pg_wal_replay_resume()')
    await untilAskedOf(() => servers.replica.address)
  })

  it('successive requests never see an older block while the replica pauses and resumes its replay', async () => {
    let isOver = false
    const ports = new Set<number>()
    const client = async () => {
      for (let last = 0; !isOver;) {
        const shown = await ask()
        expect(shown.block).toBeGreaterThanOrEqual(last)
        last = shown.block
        ports.add(shown.port)
        await sleep(1)
      }
    }
    // Each client sends its requests in sequence: answers of concurrent requests may arrive in any order.
    const clients = [client(), client(), client()]
    for (let round = 0; round < 4; round++) {
      const pause = round % 2 === 0 ? 'pg_wal_replay_pause' : 'pg_wal_replay_resume'
      await onReplica(`SELECT ${pause}()`)
      for (let each = 0; each < 8; each++) {
        await commitBlock()
        if (each % 3 === 0) await database.caughtUp()
        await sleep(60)
      }
    }
    await untilAskedOf(() => servers.replica.address)
    isOver = true
    await Promise.all(clients)
    expect([...ports].sort()).toEqual([servers.primary.address.port, servers.replica.address.port].sort())
  })

  it('no request fails if the replica stops during requests', async () => {
    await untilReplicaIs('ready')
    let isOver = false
    const clients = [1, 2, 3].map(async () => {
      while (!isOver) {
        await ask()
        await sleep(1)
      }
    })
    const slow = database.run((session) =>
      session.query<[string]>({ text: "SELECT 'done' FROM pg_sleep(0.5)", values: [] }),
    )
    await sleep(100)
    await servers.replica.stop()
    expect(await slow).toEqual([['done']])
    await untilReplicaIs('unavailable')
    expect((await ask()).port).toBe(servers.primary.address.port)
    isOver = true
    await Promise.all(clients)

    await servers.replica.start()
    // The restarted replica has another port than before.
    await database.close()
    database = await open([servers.replica.address])
    await untilAskedOf(() => servers.replica.address)
  })

  it('requests use the primary if the configured replica is not a standby of the primary', async () => {
    const other = await open([{ ...inject('postgres'), database: 'pronghorn_template' }])
    await sleep(3 * replicaTiming.lookMs)
    expect(other.servers().map(({ state, isInUse }) => [state, isInUse])).toEqual([
      ['ready', true],
      ['foreign', false],
    ])
    expect((await ask(other)).port).toBe(servers.primary.address.port)
    await other.close()
  })

  it('while the primary is stopped, the replica answers requests, and no events are published', async () => {
    await untilAskedOf(() => servers.replica.address)
    const last = (await ask()).block
    await servers.primary.stop()
    database.setAvailable(false)
    for (let each = 0; each < 5; each++) {
      expect(await ask()).toEqual({ block: last, port: servers.replica.address.port })
      await sleep(replicaTiming.lookMs)
    }
    expect(database.available).toBe(true)
    await expect(database.caughtUp()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
    await servers.replica.stop()
    await expect(ask()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
    expect(database.available).toBe(false)
  })
})
