import { answerSeconds, reader } from './entry.ts'
import type { MetricEntry } from './entry.ts'

const route = ['namespace', 'route'] as const

/** Metrics of the API: requests, live data, database connections, and watched conditions. */
export const apiMetrics = {
  // Metrics of HTTP requests
  pronghorn_http_requests_total: {
    kind: 'counter',
    help: 'Answered requests, by class of status (2xx, 4xx, ...). `route` is the path pattern of the endpoint, or `unmatched`.',
    labels: [...route, 'method', 'status'],
    programs: ['api'],
  },
  pronghorn_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the end of the request headers to the last byte of the answer.',
    labels: [...route, 'status'],
    programs: ['api'],
    buckets: answerSeconds,
  },
  pronghorn_http_response_bytes_total: {
    kind: 'counter',
    help: 'Bytes of answers as sent, without headers.',
    labels: route,
    programs: ['api'],
  },
  pronghorn_http_cache_answers_total: {
    kind: 'counter',
    help: 'Answers, by the outcome of the lookup in the answer cache: hit, shared (from the key-value store), joined (the result of an identical request in progress), miss or bypass (never cached).',
    labels: [...route, 'outcome'],
    programs: ['api'],
  },
  pronghorn_http_requests_in_flight: {
    kind: 'gauge',
    help: 'Requests in progress.',
    labels: [],
    programs: ['api'],
  },
  pronghorn_http_answers_bytes: {
    kind: 'gauge',
    help: 'Bytes of answers in progress, before compression. An answer counts until it has been sent.',
    labels: [],
    programs: ['api', 'state'],
  },
  pronghorn_http_answers_refused_total: {
    kind: 'counter',
    help: 'Requests that were refused because the bytes of answers in progress reached their limit.',
    labels: [],
    programs: ['api', 'state'],
  },

  // Metrics of live connections and their events
  pronghorn_live_clients: {
    kind: 'gauge',
    help: 'Open live connections, by transport: websocket, event-stream, socket.io websocket or socket.io polling.',
    labels: ['transport'],
    programs: ['api'],
  },
  pronghorn_live_messages_sent_total: {
    kind: 'counter',
    help: 'Messages (events and notices) written to live connections.',
    labels: ['transport'],
    programs: ['api'],
  },
  pronghorn_live_bytes_sent_total: {
    kind: 'counter',
    help: 'Bytes of the messages written to live connections.',
    labels: ['transport'],
    programs: ['api'],
  },
  pronghorn_live_waiting_bytes: {
    kind: 'gauge',
    help: 'Bytes that the clients of websockets and event streams have not read yet. `reader` is the reader whose events the clients receive.',
    labels: reader,
    programs: ['api'],
  },
  pronghorn_live_cut_total: {
    kind: 'counter',
    help: 'Live connections that the server closed, by reason: slow (the client does not read), rate (too many messages from the client), silent (the client does not answer), stopping (the server stops).',
    labels: ['transport', 'reason'],
    programs: ['api'],
  },
  pronghorn_live_refused_total: {
    kind: 'counter',
    help: 'Refused live connections, by reason: origin (not allowed), address (too many connections of one address), full (too many connections), stopping (the server stops).',
    labels: ['reason'],
    programs: ['api'],
  },
  pronghorn_live_tell_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the notification of a block until its events have been written to all live connections.',
    labels: reader,
    programs: ['api'],
    buckets: answerSeconds,
  },
  pronghorn_live_feed_entries_total: {
    kind: 'counter',
    help: "Received entries of the readers' feeds, by source: bus, or database if the bus had lost the entry.",
    labels: ['reader', 'via'],
    programs: ['api'],
  },

  // Metrics of the database statements that requests run
  pronghorn_database_query_duration_seconds: {
    kind: 'histogram',
    help: 'Time of database statements, including failed statements. `query` is the name of the statement; for a statement that is built for a request, `query` is namespace and route.',
    labels: ['query', 'server'],
    programs: ['api'],
    buckets: answerSeconds,
  },
  pronghorn_database_query_errors_total: {
    kind: 'counter',
    help: 'Failed statements, by kind: timeout, busy, unavailable, value or unknown.',
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
    help: 'Maximum number of open database connections.',
    labels: ['server'],
    programs: ['api'],
  },
  pronghorn_database_waiting_requests: {
    kind: 'gauge',
    help: 'Requests that are waiting for a database connection.',
    labels: ['server'],
    programs: ['api'],
  },
  pronghorn_database_refused_total: {
    kind: 'counter',
    help: 'Requests that got no database connection, by reason: busy (too many requests were waiting) or unavailable (no server answers).',
    labels: ['reason'],
    programs: ['api'],
  },
  pronghorn_database_up: {
    kind: 'gauge',
    help: '1 while the database server answers.',
    labels: ['server'],
    programs: ['api'],
    aggregation: 'min',
  },
  pronghorn_database_processes_reading: {
    kind: 'gauge',
    help: 'Processes of the api that currently read from the database server.',
    labels: ['server'],
    programs: ['api'],
  },
  pronghorn_replica_lag_seconds: {
    kind: 'gauge',
    help: 'Seconds by which a replica is behind the primary; absent if unknown.',
    labels: ['server'],
    programs: ['api'],
    aggregation: 'max',
  },
  pronghorn_replica_changes_total: {
    kind: 'counter',
    help: 'Number of times that a process of the api switched its reads to the database server.',
    labels: ['server'],
    programs: ['api'],
  },
  pronghorn_list_lookups_total: {
    kind: 'counter',
    help: 'Named lists that requests referred to, by source: cached (in the memory of the process) or read (from the database).',
    labels: ['outcome'],
    programs: ['api'],
  },

  // Metrics of the conditions that the API watches
  pronghorn_health: {
    kind: 'gauge',
    help: 'State of the service, as in /health: 0 healthy, 1 degraded, 2 unhealthy.',
    labels: [],
    programs: ['api'],
    aggregation: 'max',
  },
  pronghorn_kvstore_up: {
    kind: 'gauge',
    help: '1 while the key-value store answers and accepts writes.',
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
    help: 'Days until the certificate that the proxy shows to clients expires; -1 while the proxy does not answer.',
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
    help: 'Processes that exited unexpectedly and were restarted.',
    labels: [],
    programs: ['api'],
  },
} as const satisfies Record<string, MetricEntry>
