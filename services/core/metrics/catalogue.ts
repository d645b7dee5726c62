/** Programs that serve metrics. */
export type MetricProgram = 'api' | 'filler' | 'state'

/** How the series of several processes or threads of one program become one. */
export type Aggregation = 'sum' | 'max' | 'min' | 'first'

/** What one metric is. */
export interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly programs: readonly MetricProgram[]
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[]
  /** Of a gauge; counters and histograms are summed up. Default `sum`. */
  readonly aggregation?: Aggregation
}

/** From a point read to the longest query that is allowed. */
const answerSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** From one block at the head to a large group while catching up. */
const commitSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const commitBlocks = [1, 10, 100, 1_000, 10_000, 100_000]

const route = ['namespace', 'route'] as const
const reader = ['reader'] as const
/** `node` is the address without credentials. */
const node = ['reader', 'node'] as const

/**
 * Every metric of the program. `docs/metrics.md` is generated from this table, and a name that is not in it does not
 * compile. Labels only take values from sets that no client can enlarge.
 */
export const metricCatalogue = {
  // Requests
  pronghorn_http_requests_total: {
    kind: 'counter',
    help: 'Requests answered, by class of status (2xx, 4xx, ...). `route` is the pattern of the endpoint, `unmatched` when there is none.',
    labels: [...route, 'method', 'status'],
    programs: ['api'],
  },
  pronghorn_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the head of a request to the end of its answer.',
    labels: [...route, 'status'],
    programs: ['api'],
    buckets: answerSeconds,
  },
  pronghorn_http_response_bytes_total: {
    kind: 'counter',
    help: 'Bytes of answers as they went out, without their headers.',
    labels: route,
    programs: ['api'],
  },
  pronghorn_http_cache_answers_total: {
    kind: 'counter',
    help: 'Answers by what the cache did.',
    labels: [...route, 'outcome'],
    programs: ['api'],
  },
  pronghorn_http_requests_in_flight: {
    kind: 'gauge',
    help: 'Requests that are being answered now.',
    labels: [],
    programs: ['api'],
  },
  pronghorn_http_answers_bytes: {
    kind: 'gauge',
    help: 'Bytes of answers in progress, before compression, until they have been sent.',
    labels: [],
    programs: ['api', 'state'],
  },
  pronghorn_http_answers_refused_total: {
    kind: 'counter',
    help: 'Requests that were refused because of the bytes of answers in progress.',
    labels: [],
    programs: ['api', 'state'],
  },

  // Live data, as the api sends it
  pronghorn_live_clients: {
    kind: 'gauge',
    help: 'Open live connections, by transport: websocket, event-stream, socket.io websocket or socket.io polling.',
    labels: ['transport'],
    programs: ['api'],
  },
  pronghorn_live_messages_sent_total: {
    kind: 'counter',
    help: 'Events and notices handed to live connections.',
    labels: ['transport'],
    programs: ['api'],
  },
  pronghorn_live_bytes_sent_total: {
    kind: 'counter',
    help: 'Bytes of these messages.',
    labels: ['transport'],
    programs: ['api'],
  },
  pronghorn_live_cut_total: {
    kind: 'counter',
    help: 'Live connections that the server ended: slow (does not read), rate (too many messages), silent (does not answer), stopping.',
    labels: ['transport', 'reason'],
    programs: ['api'],
  },
  pronghorn_live_refused_total: {
    kind: 'counter',
    help: 'Live connections that were not taken: origin, address (too many of one), full, stopping.',
    labels: ['reason'],
    programs: ['api'],
  },
  pronghorn_live_tell_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the notification of a block until its events had been handed to all live connections.',
    labels: reader,
    programs: ['api'],
    buckets: answerSeconds,
  },
  pronghorn_live_feed_entries_total: {
    kind: 'counter',
    help: "Entries of readers' feeds that arrived, by source: bus, or database when the bus had missed them.",
    labels: ['reader', 'via'],
    programs: ['api'],
  },

  // Database, as requests use it
  pronghorn_database_query_duration_seconds: {
    kind: 'histogram',
    help: 'Time of database statements, failed ones included. `query` is the name of the statement; one that is put together for a request goes by namespace and route.',
    labels: ['query', 'server'],
    programs: ['api'],
    buckets: answerSeconds,
  },
  pronghorn_database_query_errors_total: {
    kind: 'counter',
    help: 'Statements that failed, by kind: timeout, busy, unavailable, value or unknown.',
    labels: ['query', 'server', 'kind'],
    programs: ['api'],
  },
  pronghorn_database_connection_wait_seconds: {
    kind: 'histogram',
    help: 'Time that requests waited for a database connection.',
    labels: ['server'],
    programs: ['api'],
    buckets: answerSeconds,
  },
  pronghorn_database_connections: {
    kind: 'gauge',
    help: 'Open database connections, by state: used or idle.',
    labels: ['server', 'state'],
    programs: ['api'],
  },
  pronghorn_database_connections_limit: {
    kind: 'gauge',
    help: 'Most connections that may be open.',
    labels: ['server'],
    programs: ['api'],
  },
  pronghorn_database_waiting_requests: {
    kind: 'gauge',
    help: 'Requests that wait for a connection now.',
    labels: ['server'],
    programs: ['api'],
  },
  pronghorn_database_refused_total: {
    kind: 'counter',
    help: 'Requests that got no connection: too many waited already (busy), or no server answers (unavailable).',
    labels: ['reason'],
    programs: ['api'],
  },
  pronghorn_database_up: {
    kind: 'gauge',
    help: '1 while the server answers.',
    labels: ['server'],
    programs: ['api'],
    aggregation: 'min',
  },
  pronghorn_database_processes_reading: {
    kind: 'gauge',
    help: 'Processes of the api that read from this server now.',
    labels: ['server'],
    programs: ['api'],
  },
  pronghorn_replica_lag_seconds: {
    kind: 'gauge',
    help: 'How far a replica is behind the primary, where it is known.',
    labels: ['server'],
    programs: ['api'],
    aggregation: 'max',
  },
  pronghorn_replica_changes_total: {
    kind: 'counter',
    help: 'Times that a process went over to reading from this server.',
    labels: ['server'],
    programs: ['api'],
  },
  pronghorn_list_lookups_total: {
    kind: 'counter',
    help: 'Named lists that requests asked for: cached (of the same snapshot) or read.',
    labels: ['outcome'],
    programs: ['api'],
  },

  // What the api watches
  pronghorn_health: {
    kind: 'gauge',
    help: '0 healthy, 1 degraded, 2 unhealthy, as /health says.',
    labels: [],
    programs: ['api'],
    aggregation: 'max',
  },
  pronghorn_kvstore_up: {
    kind: 'gauge',
    help: '1 while the key-value store answers and takes writes.',
    labels: [],
    programs: ['api', 'filler'],
    aggregation: 'min',
  },
  pronghorn_kvstore_state: {
    kind: 'gauge',
    help: '1 for the state of the key-value store: up, unavailable, or why it refuses writes (read-only, out of memory, cannot save, refuses writes).',
    labels: ['state'],
    programs: ['api', 'filler'],
    aggregation: 'max',
  },
  pronghorn_certificate_days: {
    kind: 'gauge',
    help: 'Days until the certificate ends that the proxy shows to clients; -1 while the proxy cannot be asked.',
    labels: [],
    programs: ['api'],
    aggregation: 'min',
  },
  pronghorn_workers: {
    kind: 'gauge',
    help: 'Processes that answer requests.',
    labels: [],
    programs: ['api'],
  },
  pronghorn_worker_restarts_total: {
    kind: 'counter',
    help: 'Processes that ended by themselves and were started again.',
    labels: [],
    programs: ['api'],
  },

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

  // All
  pronghorn_build_info: {
    kind: 'gauge',
    help: 'Always 1; the version is in the label.',
    labels: ['version'],
    programs: ['api', 'filler', 'state'],
    aggregation: 'first',
  },
} as const satisfies Record<string, MetricEntry>

type Catalogue = typeof metricCatalogue

/** Name of a metric. */
export type MetricName = keyof Catalogue

/** Names of the metrics of one kind. */
export type MetricNameOf<K extends MetricEntry['kind']> = {
  [N in MetricName]: Catalogue[N]['kind'] extends K ? N : never
}[MetricName]

/** The labels of a metric, all of them. */
export type MetricLabels<N extends MetricName> = Readonly<Record<Catalogue[N]['labels'][number], string>>
