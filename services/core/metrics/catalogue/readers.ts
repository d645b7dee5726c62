import { reader } from './entry.ts'
import type { MetricEntry } from './entry.ts'

/** Histogram buckets of a commit, from a single block at the head to a large commit unit during catch-up. */
const commitSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const commitBlocks = [1, 10, 100, 1_000, 10_000, 100_000]

/** Labels of metrics of one chain node; `node` is its address without credentials. */
const node = ['reader', 'node'] as const

/** Metrics of the readers, of their chain nodes, and of the feeds and named lists that the filler maintains. */
export const readerMetrics = {
  // Readers
  pronghorn_reader_blocks_behind: {
    kind: 'gauge',
    help: 'Blocks from the last committed one to the head of the chain (of irreversible blocks, for a reader of only those).',
    labels: reader,
    programs: ['api', 'filler'],
    aggregation: 'max',
  },
  pronghorn_reader_seconds_behind: {
    kind: 'gauge',
    help: 'Age of the last committed block: in the filler against the present, in the api against the head of the chain.',
    labels: reader,
    programs: ['api', 'filler'],
    aggregation: 'max',
  },
  pronghorn_reader_state: {
    kind: 'gauge',
    help: '1 for the state that the reader is in: connecting, catching-up, live or stopped.',
    labels: ['reader', 'state'],
    programs: ['filler'],
  },
  pronghorn_reader_block: {
    kind: 'gauge',
    help: 'Last committed block.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_head_block: {
    kind: 'gauge',
    help: 'Head of the chain as the node reported it.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_irreversible_block: {
    kind: 'gauge',
    help: 'Last irreversible block as the node reported it.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_last_commit_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the last commit ended, seconds since 1970.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_last_message_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the node last sent a complete message, seconds since 1970.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_last_block_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the node last sent a block, seconds since 1970.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_missing_blocks: {
    kind: 'gauge',
    help: 'Blocks below the last committed one that were left out because start_block was raised; /health names them.',
    labels: reader,
    programs: ['filler'],
    aggregation: 'max',
  },
  pronghorn_reader_stalled: {
    kind: 'gauge',
    help: '1 while the reader does not progress although it has something to do; /health says why.',
    labels: reader,
    programs: ['filler'],
    aggregation: 'max',
  },
  pronghorn_reader_commit_duration_seconds: {
    kind: 'histogram',
    help: 'Time of commits, by mode: single (one block that a fork may undo) or group.',
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
    help: 'Row operations committed, before those on the same row were merged.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_rows_total: {
    kind: 'counter',
    help: 'Rows written or removed, by table.',
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
    help: 'Connections opened to the node; more than one is a reconnect.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_node_state: {
    kind: 'gauge',
    help: '1 for the present state of the chain node: connecting, watched, reading, followed or failed.',
    labels: [...node, 'state'],
    programs: ['filler'],
  },
  pronghorn_node_head_block: {
    kind: 'gauge',
    help: 'Newest head that the chain node reported.',
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
    help: 'Times that the chain node was lost, left or refused.',
    labels: node,
    programs: ['filler'],
  },
  pronghorn_reader_interruptions_total: {
    kind: 'counter',
    help: 'Times that reading began again from the committed position after an error that may pass.',
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
    help: 'Events in these entries.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_feed_stored_bytes_total: {
    kind: 'counter',
    help: 'Bytes of these entries as they are stored.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_feed_messages_total: {
    kind: 'counter',
    help: 'Messages to the processes that serve live clients, by outcome: sent, or dropped because the key-value store did not take it; what is dropped is read from the database.',
    labels: [...reader, 'outcome'],
    programs: ['filler'],
  },
  pronghorn_reader_queued_blocks: {
    kind: 'gauge',
    help: 'Blocks received and waiting.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_held_bytes: {
    kind: 'gauge',
    help: 'Bytes of blocks received and not yet applied.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_undecodable_actions_total: {
    kind: 'counter',
    help: 'Actions that did not fit their ABI and were left out.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_reader_unknown_tables_total: {
    kind: 'counter',
    help: 'Rows of tables that no ABI names; they were left out.',
    labels: reader,
    programs: ['filler'],
  },
  pronghorn_state_undecodable_rows_total: {
    kind: 'counter',
    help: 'Stored rows that no ABI of their contract fits, by contract; they are returned in hexadecimal.',
    labels: ['contract'],
    programs: ['state'],
  },

  // Named lists
  pronghorn_list_polls_total: {
    kind: 'counter',
    help: 'Requests to sources of named lists, by outcome: changed, unchanged or failed.',
    labels: ['source', 'outcome'],
    programs: ['filler'],
  },
  pronghorn_list_last_success_timestamp_seconds: {
    kind: 'gauge',
    help: 'When a source of named lists last answered, seconds since 1970.',
    labels: ['source'],
    programs: ['filler'],
  },
  pronghorn_list_items: {
    kind: 'gauge',
    help: 'Items in all lists of a source.',
    labels: ['source'],
    programs: ['filler'],
  },
} as const satisfies Record<string, MetricEntry>
