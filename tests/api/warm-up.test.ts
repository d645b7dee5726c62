import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNamespace, startApi } from '../../services/api/index.ts'
import type { NamespaceFactory } from '../../services/api/index.ts'
import { RetryableError } from '../../services/core/errors/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { generateRows } from './generated-rows.ts'
import { apiConfig, quiet } from './server.ts'

/** The time limit of the warm-up is long enough for all rounds on a busy machine. */
const warm = { isWarmedUp: true, longestWarmUpMs: patient(60_000) }

let full: TestDatabase
let empty: TestDatabase
beforeAll(async () => {
  full = await createTestDatabase()
  empty = await createTestDatabase()
  const client = await connectDatabase(full.address, { applicationName: 'test' })
  await generateRows(client, {
    collections: 2,
    schemasPerCollection: 1,
    templates: 4,
    assets: 20,
    owners: 3,
    offers: 4,
    transfers: 8,
  })
  await client.end()
})
afterAll(() => Promise.all([full.drop(), empty.drop()]))

/** Requests that reached the endpoints: the path of the endpoint and the given parameters. */
interface Recorded {
  readonly create: NamespaceFactory
  readonly runs: { readonly path: string; readonly values: Record<string, unknown> }[]
}

/** Records each run of an endpoint. `before` is called first; if `before` throws, the run fails. */
function recordRuns(before: (run: number) => void = () => undefined): Recorded {
  const runs: { path: string; values: Record<string, unknown> }[] = []
  const create: NamespaceFactory = (...given) => {
    const namespace = createNamespace(...given)
    if (!namespace) return undefined
    const endpoints = namespace.endpoints.map((endpoint) => ({
      ...endpoint,
      run: (context: Parameters<typeof endpoint.run>[0]) => {
        runs.push({ path: endpoint.path, values: { ...context.values } })
        before(runs.length)
        return endpoint.run(context)
      },
    }))
    return { ...namespace, endpoints }
  }
  return { create, runs }
}

describe('the warm-up', () => {
  it('the warm-up requests the endpoints with values of existing records before the API listens', async () => {
    const { create, runs } = recordRuns()
    const settings = { config: apiConfig(full.address), logger: quiet, createNamespace: create }
    const cold = await startApi(settings)
    await cold.close()
    expect(runs).toEqual([])
    const api = await startApi({ ...settings, ...warm })
    await api.close()
    const assets = runs.filter(({ path }) => path === '/v1/assets')
    expect(assets).toHaveLength(6)
    expect(assets.some(({ values }) => /^col\d$/.test(String(values.collection_name)))).toBe(true)
    for (const path of ['/v1/assets/:asset_id', '/v1/transfers', '/v1/offers/:offer_id', '/v1/accounts']) {
      expect(runs.filter((run) => run.path === path).length, path).toBeGreaterThan(1)
    }
  })

  it('warm-up requests count neither in the metrics nor against the rate limit, and fill no cache', async () => {
    const { create, runs } = recordRuns()
    const metricsPort = await findFreePort()
    const config = apiConfig(full.address, {
      metrics_port: metricsPort,
      cache_life: 60,
      rate_limit: { interval: 60, requests: 2 },
    })
    const api = await startApi({ config, logger: quiet, createNamespace: create, ...warm })
    try {
      const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      const before = await metrics()
      expect(before).not.toMatch(/^pronghorn_(http_requests_total|database_query_duration_seconds_count)\{/m)
      const warmed = runs.length
      expect(warmed).toBeGreaterThan(50)
      for (const status of [200, 200, 429]) {
        const answer = await fetch(`${api.url}/atomicassets/v1/assets`)
        expect(answer.status).toBe(status)
        await answer.text()
      }
      expect(runs).toHaveLength(warmed + 1)
      expect(await metrics()).toMatch(/^pronghorn_database_query_duration_seconds_count\{.* 1$/m)
    } finally {
      await api.close()
    }
  })

  it('on an empty database the warm-up requests each path at most once; a database error ends the warm-up, and the API starts', async () => {
    const nothing = recordRuns()
    const first = await startApi({
      ...{ config: apiConfig(empty.address), logger: quiet, ...warm },
      createNamespace: nothing.create,
    })
    await first.close()
    const lists = nothing.runs.map(({ path }) => path)
    expect(new Set(lists).size).toBe(lists.length)
    let isFailing = true
    const failing = recordRuns((run) => {
      if (isFailing && run >= 5)
        throw new RetryableError('DATABASE_UNAVAILABLE', 'the database is unavailable')
    })
    const second = await startApi({
      ...{ config: apiConfig(full.address), logger: quiet, ...warm },
      createNamespace: failing.create,
    })
    // After a database failure, the API repeats a request once. So the endpoint runs twice for one of the paths.
    expect(failing.runs).toHaveLength(6)
    isFailing = false
    expect((await fetch(`${second.url}/atomicassets/v1/assets`)).status).toBe(200)
    await second.close()
  })
})
