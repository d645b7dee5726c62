import { reader } from './entry.ts'
import type { MetricEntry } from './entry.ts'

/** Histogram buckets of a commit, from a single block at the head to a large commit unit during catch-up. */
const commitSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const commitBlocks = [1, 10, 100, 1_000, 10_000, 100_000]

/** Labels of metrics of one chain node; `node` is its address without credentials. */
const node = ['reader', 'node'] as const

/** Metrics of the readers, of their chain nodes, and of the feeds and named lists that the filler maintains. */
export const readerMetrics = {
  // Metrics of readers
  pronghorn_reader_blocks_behind: {
    kind: 'gauge',
    help: 'Number of blocks between the last committed block and the head of the chain; for a reader with `irreversible_only`, between the last committed and the last irreversible block.',
    labels: reader,
    programs: ['api', 'filler'],
    aggregation: 'max',
  },
  pronghorn_reader_seconds_behind: {
    kind: 'gauge',
    help: 'Age of the last committed block. In the filler: present time minus block time. In the api: time of the head block minus block time.',
    labels: reader,
    programs: ['api', 'filler'],
    aggregation: 'max',
  },
  pronghorn_reader_state: {
    kind: 'gauge',
    help: '1 for the current state of the reader: connecting, catching-up, live or stopped.',
    labels: ['reader', 'state'],
    programs: ['filler'],
  },
  pronghorn_reader_block: {
    kind: 'gauge',
    help: 'Number of the last committed block.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_head_block: {
    kind: 'gauge',
    help: 'Number of the head block of the chain, as the nodes of the reader reported it.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_irreversible_block: {
    kind: 'gauge',
    help: 'Number of the last irreversible block, as the nodes of the reader reported it.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_last_commit_timestamp_seconds: {
    kind: 'gauge',
    help: 'Time of the last commit, seconds since 1970.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_last_message_timestamp_seconds: {
    kind: 'gauge',
    help: "Time of the node's last complete message, seconds since 1970.",
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_last_block_timestamp_seconds: {
    kind: 'gauge',
    help: "Time of the node's last block, seconds since 1970.",
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_missing_blocks: {
    kind: 'gauge',
    help: 'Blocks below the last committed block that were skipped because start_block was raised; /health lists the skipped blocks.',
    labels: reader,
    programs: ['filler'],
    aggregation: 'max',
  },
  pronghorn_reader_stalled: {
    kind: 'gauge',
    help: '1 while the reader has blocks to process but does not progress; /health names the reason.',
    labels: reader,
    programs: ['filler'],
    aggregation: 'max',
  },
  pronghorn_reader_commit_duration_seconds: {
    kind: 'histogram',
    help: 'Duration of commits, by mode: single (one block that a fork may undo) or group (several irreversible blocks).',
    labels: ['reader', 'mode'],
    programs: ['filler'],
    buckets: commitSeconds,
  },
  pronghorn_reader_commit_blocks: {
    kind: 'histogram',
    help: 'Blocks in a commit.',
    labels: ['reader', 'mode'],
    programs: ['filler'],
    buckets: commitBlocks,
  },
  pronghorn_reader_operations_total: {
    kind: 'counter',
    help: 'Committed row operations, counted before operations on the same row are merged.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_rows_total: {
    kind: 'counter',
    help: 'Rows that commits wrote or removed, by table.',
    labels: ['reader', 'table'],
    programs: ['filler'],
  },
  pronghorn_reader_rollbacks_total: {
    kind: 'counter',
    help: 'Forks that undid committed blocks.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_undone_blocks_total: {
    kind: 'counter',
    help: 'Committed blocks that forks undid.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_received_blocks_total: {
    kind: 'counter',
    help: 'Blocks received from the node.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_received_bytes_total: {
    kind: 'counter',
    help: 'Bytes received from the node.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_connections_total: {
    kind: 'counter',
    help: 'Connections opened to the node; every connection after the first is a reconnect.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_node_state: {
    kind: 'gauge',
    help: '1 for the current state of the chain node: connecting, watched (answers status requests only), reading (sends a range of blocks), followed (streams new blocks) or failed.',
    labels: [...node, 'state'],
    programs: ['filler'],
  },
  pronghorn_node_head_block: {
    kind: 'gauge',
    help: 'Number of the head block that the chain node last reported.',
    labels: node,
    programs: ['filler'],
  },
  pronghorn_node_blocks_behind: {
    kind: 'gauge',
    help: 'Blocks by which the head of the chain node is behind the newest head of all nodes of the reader.',
    labels: node,
    programs: ['filler'],
  },
  pronghorn_node_received_blocks_total: {
    kind: 'counter',
    help: 'Blocks received from the chain node.',
    labels: node,
    programs: ['filler'],
  },
  pronghorn_node_received_bytes_total: {
    kind: 'counter',
    help: 'Bytes received from the chain node.',
    labels: node,
    programs: ['filler'],
  },
  pronghorn_node_faults_total: {
    kind: 'counter',
    help: 'Number of times that the connection to the chain node was lost, or that the reader left or refused the node.',
    labels: node,
    programs: ['filler'],
  },
  pronghorn_reader_interruptions_total: {
    kind: 'counter',
    help: 'Number of times that reading restarted from the committed position after a temporary error.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_feed_entries_total: {
    kind: 'counter',
    help: 'Entries written to the feed of live events, by kind: block, fork or gap (blocks that were indexed and not published).',
    labels: [...reader, 'kind'],
    programs: ['filler'],
  },
  pronghorn_feed_events_total: {
    kind: 'counter',
    help: 'Events in the entries written to the feed.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_feed_stored_bytes_total: {
    kind: 'counter',
    help: 'Stored bytes of the entries written to the feed.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_feed_messages_total: {
    kind: 'counter',
    help: 'Messages to the processes that serve live clients, by outcome: sent, or dropped because the key-value store did not accept the message. Processes read dropped messages from the database.',
    labels: [...reader, 'outcome'],
    programs: ['filler'],
  },
  pronghorn_reader_queued_blocks: {
    kind: 'gauge',
    help: 'Blocks that were received and not yet applied.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_held_bytes: {
    kind: 'gauge',
    help: 'Bytes of blocks that were received and not yet applied.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_undecodable_actions_total: {
    kind: 'counter',
    help: 'Actions that were skipped because they did not fit their ABI.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_unknown_tables_total: {
    kind: 'counter',
    help: 'Rows that were skipped because no ABI defines their table.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_state_undecodable_rows_total: {
    kind: 'counter',
    help: 'Stored rows that no ABI of their contract fits, by contract; the state service returns such rows in hexadecimal.',
    labels: ['contract'],
    programs: ['state'],
  },

  // Metrics of named lists
  pronghorn_list_polls_total: {
    kind: 'counter',
    help: 'Requests to sources of named lists, by outcome: changed, unchanged or failed.',
    labels: ['source', 'outcome'],
    programs: ['filler'],
  },
  pronghorn_list_last_success_timestamp_seconds: {
    kind: 'gauge',
    help: 'Time of the last answer of a source of named lists, seconds since 1970.',
    labels: ['source'],
    programs: ['filler'],
  },
  pronghorn_list_items: {
    kind: 'gauge',
    help: 'Number of items in all named lists of a source.',
    labels: ['source'],
    programs: ['filler'],
  },
} as const satisfies Record<string, MetricEntry>
