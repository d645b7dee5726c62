import { noteStoreState } from '../../core/metrics/index.ts'
import type { Metrics } from '../../core/metrics/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import type { HealthReport, HealthState } from '../health/index.ts'

/** Sources of the metrics about the database, its connections and the API's health. */
export interface WatchedParts {
  readonly database: RequestDatabase
  readonly health: () => HealthReport
  readonly state: () => HealthState
}

const statusNumbers = { healthy: 0, degraded: 1, unhealthy: 2 } as const

/** Adds the current state of the database, its connections and the API's health to each metrics snapshot. */
export function watchParts(metrics: Metrics, parts: WatchedParts): void {
  metrics.beforeSnapshot(() => {
    noteConnections(metrics, parts.database)
    noteServers(metrics, parts.database)
    noteHealth(metrics, parts.health(), parts.state())
  })
}

function noteConnections(metrics: Metrics, database: RequestDatabase): void {
  for (const { server, used, idle, waiting, limit } of database.load()) {
    metrics.set('pronghorn_database_connections', { server, state: 'used' }, used)
    metrics.set('pronghorn_database_connections', { server, state: 'idle' }, idle)
    metrics.set('pronghorn_database_connections_limit', { server }, limit)
    metrics.set('pronghorn_database_waiting_requests', { server }, waiting)
  }
}

function noteServers(metrics: Metrics, database: RequestDatabase): void {
  for (const { server, state, lagMs, isInUse } of database.servers()) {
    metrics.set('pronghorn_database_up', { server }, state === 'unavailable' ? 0 : 1)
    metrics.set('pronghorn_database_processes_reading', { server }, isInUse ? 1 : 0)
    if (server !== 'primary' && lagMs !== undefined) {
      metrics.set('pronghorn_replica_lag_seconds', { server }, lagMs / 1_000)
    }
  }
}

function noteHealth(metrics: Metrics, report: HealthReport, state: HealthState): void {
  metrics.set('pronghorn_health', {}, statusNumbers[report.status])
  noteStoreState(metrics, state.kvstore)
  for (const { reader, lagBlocks, lagSeconds } of report.lags) {
    metrics.set('pronghorn_reader_blocks_behind', { reader }, lagBlocks)
    metrics.set('pronghorn_reader_seconds_behind', { reader }, lagSeconds)
  }
}
