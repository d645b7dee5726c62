import { setMaxListeners } from 'node:events'
import { createServer, connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { openRequestDatabase } from '../../services/api/database/request-database.ts'
import type { RequestDatabase } from '../../services/api/database/request-database.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { apiConfig, ask, quiet } from './server.ts'

const silent = createLogger({ name: 'test', level: 'silent' })
let database: TestDatabase
let admin: pg.Client
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  database = await createTestDatabase()
  admin = await connectDatabase(database.address, { applicationName: 'test' })
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(async () => {
  await admin.end()
  await database.drop()
})

/** Number of the API's running statements in this database. */
async function running(): Promise<number> {
  const { rows } = await admin.query<{ n: bigint }>(
    `SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'pronghorn-api' AND state = 'active'`,
  )
  return Number(rows[0]!.n)
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}

async function open(address: DatabaseAddress, limits: Record<string, number> = {}): Promise<RequestDatabase> {
  const opened = await openRequestDatabase(
    { address, maxConnections: 1, maxLists: 1, maxQueryTimeMs: 60_000, slowQueryMs: 0, ...limits },
    silent,
  )
  closing.push(() => opened.close())
  return opened
}

const pause = (seconds: number) => ({ text: `SELECT pg_sleep(${seconds})`, values: [] })

describe('the deadline of a request', () => {
  it('all statements of a request share its deadline', async () => {
    const requests = await open(database.address, { maxQueryTimeMs: 1_500 })
    let ended = 0
    const work = requests.run(async (session) => {
      for (;;) {
        await session.query(pause(0.4))
        ended++
      }
    })
    await expect(work).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
    expect(ended).toBeLessThan(4)
    await until(async () => (await running()) === 0)
  })

  it('the deadline of a request also cancels the statement on the database server', async () => {
    const requests = await open(database.address)
    const work = requests.run((session) => session.query(pause(50)), { deadlineMs: performance.now() + 200 })
    await expect(work).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
    await until(async () => (await running()) === 0)
    expect(await requests.run((session) => session.query({ text: 'SELECT 7', values: [] }))).toEqual([[7]])
  })
})

describe('a statement that cannot be cancelled', () => {
  /** Opens a proxy of the database that drops cancel requests. */
  async function openDeafWire(): Promise<DatabaseAddress> {
    const wire = createServer((near) => {
      near.once('data', (first) => {
        if (first.length === 16 && first.readInt32BE(4) === 80_877_102) {
          near.destroy()
          return
        }
        const far = connect(database.address.port, database.address.host)
        for (const socket of [near, far]) socket.on('error', () => undefined)
        far.write(first)
        near.pipe(far).pipe(near)
      })
    })
    await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve))
    closing.push(() => new Promise((resolve) => wire.close(resolve)))
    return { ...database.address, host: '127.0.0.1', port: (wire.address() as AddressInfo).port }
  }

  it('a statement that cannot be cancelled occupies its database connection until the statement ends, even after the request has failed', async () => {
    const requests = await open(await openDeafWire())
    // Open the database connection first: on a busy machine that can take longer than the request's deadline of 200 ms.
    await requests.run((session) => session.query(pause(0)))
    await admin.query('SELECT pg_advisory_lock(4711)')
    const work = requests.run(
      (session) => session.query({ text: 'SELECT pg_advisory_lock(4711)', values: [] }),
      { deadlineMs: performance.now() + 200 },
    )
    await expect(work).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
    expect([await running(), requests.load()[0]!.used]).toEqual([1, 1])
    const next = requests.run((session) => session.query(pause(0)), { deadlineMs: performance.now() + 200 })
    await expect(next).rejects.toMatchObject({ code: 'DATABASE_BUSY' })
    await admin.query('SELECT pg_advisory_unlock(4711)')
    await until(() => requests.load()[0]!.used === 0)
    expect(await requests.run((session) => session.query({ text: 'SELECT 7', values: [] }))).toEqual([[7]])
  })
})

/** Maximum number of clients in a test that disconnect together. */
const CLIENTS = 20

describe('a disconnected client', () => {
  let api: RunningApi
  let locker: pg.Client

  /** Sends a request and disconnects when `leave` is aborted. */
  function askAndLeave(path: string, client: string, leave: AbortSignal): Promise<unknown> {
    return new Promise((resolve) => {
      const headers = { 'x-forwarded-for': client }
      const sent = request(`${api.url}/atomicassets${path}`, { headers, agent: false }, (response) => {
        response.resume().on('end', resolve)
      })
      sent.on('error', resolve).end()
      // One signal disconnects all clients: allow one listener for each, without a leak warning.
      setMaxListeners(CLIENTS, leave)
      leave.addEventListener('abort', () => sent.destroy())
    })
  }

  async function start(settings: Record<string, unknown>): Promise<void> {
    api = await startApi({
      config: apiConfig(database.address, { trust_proxy: true, max_query_time_ms: 60_000, ...settings }),
      logger: quiet,
    })
    closing.push(() => api.close())
    locker = await connectDatabase(database.address, { applicationName: 'test' })
    closing.push(() => locker.end())
    await locker.query('BEGIN; LOCK TABLE assets.offers')
  }

  it('running statements of disconnected clients are cancelled, and waiting requests of these clients are removed from the queue', async () => {
    await start({ max_db_connections: 4, max_list_queries: 2 })
    const leave = new AbortController()
    const asked = Array.from({ length: 10 }, (_, at) =>
      askAndLeave(`/v1/offers?limit=${at + 1}`, `192.0.2.${at}`, leave.signal),
    )
    await until(async () => (await running()) === 2)
    leave.abort()
    await Promise.all(asked)
    await until(async () => (await running()) === 0)
    // The locked table delays only the lists that read the table. The list of transfers reads other tables and is
    // answered.
    expect((await ask(`${api.url}/atomicassets/v1/transfers?limit=1`)).status).toBe(200)
  })

  it('many list requests do not delay requests for single records', async () => {
    await start({ max_db_connections: 4, max_list_queries: 4 })
    const leave = new AbortController()
    const asked = Array.from({ length: CLIENTS }, (_, at) =>
      askAndLeave(`/v1/offers?limit=${at + 1}`, `192.0.2.${at}`, leave.signal),
    )
    await until(async () => (await running()) === 3)
    for (const path of ['/v1/collections/nobody', '/v1/assets/1099511627776']) {
      expect((await ask(`${api.url}/atomicassets${path}`)).status, path).toBe(416)
    }
    leave.abort()
    await Promise.all(asked)
  })
})
