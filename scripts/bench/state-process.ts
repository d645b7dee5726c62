/** The state service of the benchmark, in a separate process. */
import { parseConfig } from '../../services/core/config/index.ts'
import { readStateSettings } from '../../services/core/config/environment/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { startState } from '../../services/state/index.ts'

/** First message from the benchmark to the process of the state service. */
export interface StateProcessStart {
  readonly database: DatabaseAddress
  readonly chainId: string
  readonly httpUrl: string
}

/**
 * Address and resource usage of the process of the state service. The process sends this message when the service
 * listens, and on request.
 */
export interface StateProcessReport {
  readonly url: string
  readonly rssBytes: number
  /** Processor time since the start, user and system, microseconds. */
  readonly cpuMicros: number
}

process.once('message', (start: StateProcessStart) => {
  void run(start)
})
process.once('disconnect', () => process.exit())

async function run({ database, chainId, httpUrl }: StateProcessStart): Promise<void> {
  const { config } = parseConfig({
    connections: {
      sqldb: database,
      chain: { name: 'bench', chain_id: chainId, http: httpUrl, ship: 'ws://127.0.0.1:1' },
    },
  })
  const { url } = await startState({
    connections: config.connections,
    settings: { ...readStateSettings({}).settings, address: '127.0.0.1', port: 0, tokensPerMinute: 1_000 },
    logger: createLogger({ name: 'state', level: 'silent' }),
  })
  const report = (): void => {
    const { user, system } = process.cpuUsage()
    const rssBytes = process.memoryUsage.rss()
    process.send?.({ url, rssBytes, cpuMicros: user + system } satisfies StateProcessReport)
  }
  process.on('message', report)
  report()
}
