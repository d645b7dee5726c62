import { createMetrics } from '../../core/metrics/index.ts'
import type { MetricSnapshot } from '../../core/metrics/index.ts'
import type { NodeStatus, ReaderObserver, ReaderStatus } from '../pipeline/index.ts'

/** Metrics of a reader's thread. */
export interface ReaderMetrics {
  readonly observer: ReaderObserver
  /** Updates the metrics from a status report of the reader. */
  note(status: ReaderStatus): void
  snapshot(): Promise<MetricSnapshot>
}

const states: readonly ReaderStatus['state'][] = ['connecting', 'catching-up', 'live', 'stopped']

const nodeStates: readonly NodeStatus['state'][] = ['connecting', 'watched', 'reading', 'followed', 'failed']

/** Creates the metrics of one reader. `now` returns epoch milliseconds. */
export function createReaderMetrics(reader: string, now: () => number = Date.now): ReaderMetrics {
  const metrics = createMetrics('filler', { ofProcess: false })
  const labels = { reader }
  for (const name of ['pronghorn_reader_rollbacks_total', 'pronghorn_reader_interruptions_total'] as const) {
    metrics.count(name, labels, 0)
  }
  return {
    observer: {
      committed({ durationMs, blocks, isReversible, rows }) {
        const mode = isReversible ? 'single' : 'group'
        metrics.observe('pronghorn_reader_commit_duration_seconds', { reader, mode }, durationMs / 1_000)
        metrics.observe('pronghorn_reader_commit_blocks', { reader, mode }, blocks)
        for (const [table, count] of rows) {
          metrics.count('pronghorn_reader_rows_total', { reader, table }, count)
        }
      },
      rolledBack(blocks) {
        metrics.count('pronghorn_reader_rollbacks_total', labels)
        metrics.count('pronghorn_reader_undone_blocks_total', labels, blocks)
      },
      interrupted() {
        metrics.count('pronghorn_reader_interruptions_total', labels)
      },
      published({ kind, events, storedBytes }) {
        metrics.count('pronghorn_feed_entries_total', { reader, kind })
        metrics.count('pronghorn_feed_events_total', labels, events)
        metrics.count('pronghorn_feed_stored_bytes_total', labels, storedBytes)
      },
    },
    note(status) {
      for (const state of states) {
        metrics.set('pronghorn_reader_state', { reader, state }, state === status.state ? 1 : 0)
      }
      metrics.set('pronghorn_reader_block', labels, status.block)
      metrics.set('pronghorn_reader_head_block', labels, status.head)
      metrics.set('pronghorn_reader_irreversible_block', labels, status.irreversible)
      metrics.set('pronghorn_reader_queued_blocks', labels, status.queuedBlocks)
      metrics.set('pronghorn_reader_held_bytes', labels, status.heldBytes)
      if (status.head > 0) metrics.set('pronghorn_reader_blocks_behind', labels, status.blocksBehind)
      if (status.blockTimeMs > 0) {
        const seconds = Math.max(0, now() - status.blockTimeMs) / 1_000
        metrics.set('pronghorn_reader_seconds_behind', labels, seconds)
      }
      if (status.committedAtMs !== null) {
        const seconds = status.committedAtMs / 1_000
        metrics.set('pronghorn_reader_last_commit_timestamp_seconds', labels, seconds)
      }
      for (const [name, sinceMs] of [
        ['pronghorn_reader_last_message_timestamp_seconds', status.sinceMessageMs],
        ['pronghorn_reader_last_block_timestamp_seconds', status.sinceBlockMs],
      ] as const) {
        if (sinceMs !== null) metrics.set(name, labels, (now() - sinceMs) / 1_000)
      }
      const missing = status.gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0)
      metrics.set('pronghorn_reader_missing_blocks', labels, missing)
      metrics.set('pronghorn_reader_stalled', labels, status.problem === null ? 0 : 1)
      for (const node of status.nodes) {
        const ofNode = { reader, node: node.url }
        for (const state of nodeStates) {
          metrics.set('pronghorn_node_state', { ...ofNode, state }, state === node.state ? 1 : 0)
        }
        if (node.headNum !== null) metrics.set('pronghorn_node_head_block', ofNode, node.headNum)
        if (node.lagBlocks !== null) metrics.set('pronghorn_node_blocks_behind', ofNode, node.lagBlocks)
        metrics.countTo('pronghorn_node_received_blocks_total', ofNode, node.blocksReceived)
        metrics.countTo('pronghorn_node_received_bytes_total', ofNode, node.bytesReceived)
        metrics.countTo('pronghorn_node_faults_total', ofNode, node.faults)
      }
      metrics.countTo('pronghorn_reader_operations_total', labels, status.operations)
      metrics.countTo('pronghorn_reader_received_blocks_total', labels, status.receivedBlocks)
      metrics.countTo('pronghorn_reader_received_bytes_total', labels, status.receivedBytes)
      metrics.countTo('pronghorn_reader_connections_total', labels, status.connections)
      metrics.countTo('pronghorn_reader_undecodable_actions_total', labels, status.undecodableActions)
      metrics.countTo('pronghorn_reader_unknown_tables_total', labels, status.unknownTables)
    },
    snapshot: () => metrics.snapshot(),
  }
}
