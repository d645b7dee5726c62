import { answerSeconds, reader } from './entry.ts'
import type { MetricEntry } from './entry.ts'

const route = ['namespace', 'route'] as const

/** Metrics of the API: requests, live data, database connections, and watched conditions. */
export const apiMetrics = {
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

  // Live data
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
  pronghorn_live_waiting_bytes: {
    kind: 'gauge',
    help: 'Bytes that websockets and event streams have not read yet, by reader.',
    labels: reader,
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

  // Database statements of requests
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

  // Watched conditions
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
} as const satisfies Record<string, MetricEntry>
