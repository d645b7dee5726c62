import { connectDatabase } from '../../services/core/database/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { generateRows } from '../api/generated-rows.ts'
import { apiConfig, ask, quiet } from '../api/server.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { readMetrics } from '../setup/metrics.ts'
import { WrittenFeed } from './written-feed.ts'

/** Asset id of a generated asset. */
export const assetId = (number: number): string => String(2n ** 40n + BigInt(number))

/** An API on a database of generated assets, with a feed that the test writes. */
export interface LiveServer {
  readonly api: RunningApi
  readonly database: TestDatabase
  readonly kvstore: KeyValueStore
  readonly feed: WrittenFeed
  /** Member `data` of the response to a GET request. */
  data(path: string): Promise<unknown>
  /**
   * Value of a metric of the API; 0 before the first value.
   * @param series name of the metric with the labels, as the Prometheus text format has them.
   */
  metric(series: string): Promise<number>
  close(): Promise<void>
}

/**
 * Starts the API.
 * @param server keys of server.config.json to override.
 */
export async function startLiveServer(server: Record<string, unknown> = {}): Promise<LiveServer> {
  const database = await createTestDatabase()
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await generateRows(client, {
    ...{ collections: 5, schemasPerCollection: 2, templates: 10, assets: 200, owners: 5 },
    ...{ offers: 20, transfers: 20 },
  })
  await client.end()
  const kvstore = createMemoryStore(quiet)
  const feed = await WrittenFeed.open(database.address, kvstore)
  const metricsPort = await findFreePort()
  const config = apiConfig(database.address, {
    metrics_port: metricsPort,
    namespaces: [
      {
        name: 'assets',
        path: '/assets',
        aliases: ['/atomicassets'],
        args: { assets_account: 'atomicassets', connected_reader: feed.reader },
      },
      { name: 'tools', path: '/tools', args: { tools_account: 'atomictoolsx' } },
    ],
    ...server,
  })
  const api = await startApi({ config, logger: quiet, kvstore })
  return {
    ...{ api, database, kvstore, feed },
    data: async (path) => (await ask(`${api.url}${path}`)).body.data,
    metric: async (series) =>
      (await readMetrics(await fetch(`http://127.0.0.1:${metricsPort}/metrics`))).get(series) ?? 0,
    async close() {
      await api.close()
      await feed.close()
      await kvstore.close()
      await database.drop()
    },
  }
}
