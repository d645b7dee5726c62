import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { apiConfig, ask, quiet, serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'
import { Wire } from '../setup/wire.ts'

let server: TestServer
let wire: Wire
let api: RunningApi
beforeAll(async () => {
  server = await serveRecordings(['main'])
  wire = new Wire(server.database.address)
  await wire.open()
  // The default limit of list queries depends on the machine's processors; a limit of eight list queries is enough for
  // all tests.
  api = await startApi({ config: apiConfig(wire.address, { max_list_queries: 8 }), logger: quiet })
})
afterAll(async () => {
  await api.close()
  await wire.cut()
  await server.close()
})

describe('requests while the database is unavailable', () => {
  it('requests get 503 at once while the database is unavailable; health reports it, and service resumes afterwards', async () => {
    const assets = () => ask(`${api.url}/atomicassets/v1/assets?limit=3`)
    const before = await assets()
    expect(before.status).toBe(200)

    await wire.cut()
    for (let each = 0; each < 5; each++) {
      const { status, body, headers } = await assets()
      expect([status, body]).toEqual([503, { success: false, message: 'Database unavailable' }])
      expect(headers.get('retry-after')).toBe('1')
    }
    const health = await untilHealth('ERROR')
    expect(health).toMatchObject({ status: 503 })
    expect((await fetch(`${api.url}/alive`)).status).toBe(500)
    expect((await fetch(`${api.url}/healthc`)).status).toBe(500)
    expect((await fetch(`${api.url}/timestamp`)).status).toBe(200)

    await wire.open()
    expect(await untilHealth('OK')).toMatchObject({ status: 200 })
    const after = await assets()
    expect([after.status, after.body.data]).toEqual([200, before.body.data])
  })

  it('cached answers are served while the database is unavailable, and dropped after reconnecting', async () => {
    const keeping = await startApi({ config: apiConfig(wire.address, { cache_life: 300 }), logger: quiet })
    const assets = (limit: number) => ask(`${keeping.url}/atomicassets/v1/assets?limit=${limit}`)
    const before = await assets(3)
    expect((await assets(3)).body).toEqual(before.body)
    await wire.cut()
    while ((await assets(4)).status !== 503) await sleep(20)
    expect((await assets(3)).body).toEqual(before.body)
    await wire.open()
    while ((await assets(5)).status !== 200) await sleep(20)
    const after = await assets(3)
    expect([after.status, after.body.data]).toEqual([200, before.body.data])
    expect(after.body.query_time).toBeGreaterThan(before.body.query_time!)
    await keeping.close()
  })

  /**
   * Waits until `/health` reports `status` for PostgreSQL. The API polls the database, so the status changes only after
   * some polls.
   */
  async function untilHealth(status: string): Promise<Awaited<ReturnType<typeof ask>>> {
    for (;;) {
      const answer = await ask(`${api.url}/health`)
      if ((answer.body.data as { postgres: { status: string } }).postgres.status === status) return answer
      await sleep(100)
    }
  }
})

describe('a database connection that is cut', () => {
  it('requests succeed although the database terminates their connections', async () => {
    const admin = await connectDatabase(server.database.address, { applicationName: 'test' })
    await admin.query('BEGIN; LOCK TABLE assets.offers')
    const asked = Promise.all(
      [1, 2, 3].map((limit) => ask(`${api.url}/atomicassets/v1/offers?limit=${limit}`)),
    )
    const ofApi =
      "application_name = 'pronghorn-api' AND wait_event_type = 'Lock' AND datname = current_database()"
    const other = await connectDatabase(server.database.address, { applicationName: 'test' })
    for (;;) {
      const { rows } = await other.query<{ n: bigint }>(
        `SELECT count(*) AS n FROM pg_stat_activity WHERE ${ofApi}`,
      )
      if (rows[0]!.n === 3n) break
      await sleep(20)
    }
    await other.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofApi}`)
    await Promise.all([admin.end(), other.end()])
    expect((await asked).map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('health requests', () => {
  it('health requests cause no queries of the database or the key-value store', async () => {
    const memory = createMemoryStore(quiet)
    let probes = 0
    const kvstore: KeyValueStore = {
      ...memory,
      probe() {
        probes++
        return memory.probe()
      },
    }
    const watched = await startApi({ config: apiConfig(server.database.address), logger: quiet, kvstore })
    const asked = Array.from({ length: 200 }, () => fetch(`${watched.url}/healthc`))
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(probes).toBeLessThan(asked.length)
    await watched.close()
    await memory.close()
  })
})
