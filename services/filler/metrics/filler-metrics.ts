import type { StoreState } from '../../core/kvstore/index.ts'
import { createMetrics, noteStoreState, renderSnapshots } from '../../core/metrics/index.ts'
import type { Metrics, MetricSnapshot } from '../../core/metrics/index.ts'
import type { PageCounts, Task } from '../../core/upkeep/index.ts'
import type { ListPollResult } from '../named-lists/index.ts'

/** Measurements of the database as a whole; absent fields were not measured. */
export interface InstallationFacts {
  readonly disk?: { readonly freeBytes: number; readonly bytes: number }
  readonly server?: {
    readonly bytes: bigint
    readonly backends: number
    readonly limit: number
    readonly pages: PageCounts
  }
  readonly tasks?: readonly Task[]
  readonly tables?: readonly { readonly name: string; readonly bytes: number }[]
}

/** Metrics of the whole filler: its process, its list polls, and the last reports of its readers. */
export interface FillerMetrics {
  /** Stores the latest metric values of a reader's thread. */
  noteReader(reader: string, snapshot: MetricSnapshot): void
  notePoll(result: ListPollResult): void
  /** Counts a message for live clients as sent or dropped. */
  noteMessage(reader: string, outcome: 'sent' | 'dropped'): void
  /** Sets the metrics of the key-value store to the given state. */
  noteStore(state: StoreState): void
  noteInstallation(facts: InstallationFacts): void
  /** Returns all metrics in the Prometheus text format. */
  render(): Promise<string>
}

/** Creates the metrics of a filler. `now` returns epoch milliseconds. */
export function createFillerMetrics(now: () => number = Date.now): FillerMetrics {
  const metrics = createMetrics('filler')
  const readers = new Map<string, MetricSnapshot>()
  return {
    noteReader(reader, snapshot) {
      readers.set(reader, snapshot)
    },
    notePoll({ address: source, outcome, items }) {
      metrics.count('pronghorn_list_polls_total', { source, outcome })
      if (items === undefined) return
      metrics.set('pronghorn_list_last_success_timestamp_seconds', { source }, now() / 1_000)
      metrics.set('pronghorn_list_items', { source }, items)
    },
    noteMessage(reader, outcome) {
      metrics.count('pronghorn_feed_messages_total', { reader, outcome })
    },
    noteStore(state) {
      noteStoreState(metrics, state)
    },
    noteInstallation(facts) {
      noteFacts(metrics, facts)
    },
    async render() {
      return renderSnapshots([await metrics.snapshot(), ...readers.values()])
    },
  }
}

function noteFacts(metrics: Metrics, { disk, server, tasks = [], tables = [] }: InstallationFacts): void {
  if (disk) {
    metrics.set('pronghorn_database_disk_free_bytes', {}, disk.freeBytes)
    metrics.set('pronghorn_database_disk_bytes', {}, disk.bytes)
  }
  if (server) {
    metrics.set('pronghorn_database_bytes', {}, Number(server.bytes))
    metrics.set('pronghorn_database_backends', {}, server.backends)
    metrics.set('pronghorn_database_backends_limit', {}, server.limit)
    metrics.countTo('pronghorn_database_pages_total', { source: 'cache' }, server.pages.cached)
    metrics.countTo('pronghorn_database_pages_total', { source: 'read' }, server.pages.read)
  }
  for (const { name: task, intervalSeconds, succeededAt, failedAt } of tasks) {
    metrics.set('pronghorn_task_failed', { task }, failedAt === null ? 0 : 1)
    if (intervalSeconds !== null) metrics.set('pronghorn_task_interval_seconds', { task }, intervalSeconds)
    if (succeededAt === null) continue
    metrics.set('pronghorn_task_last_success_timestamp_seconds', { task }, succeededAt.getTime() / 1_000)
  }
  for (const { name: table, bytes } of tables) {
    metrics.set('pronghorn_database_table_bytes', { table }, bytes)
  }
}
