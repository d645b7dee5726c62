/** A query of a panel: one line, or a group of lines. */
export interface Query {
  readonly expr: string
  /** Name of each line, with labels in double braces. */
  readonly legend: string
}

/** A panel: title, queries, and unit as Grafana names it. */
export interface PanelText {
  readonly title: string
  readonly unit: string
  readonly queries: readonly Query[]
}

/** A dashboard: its name, title and panels. */
export interface DashboardText {
  /** File name and URL path of the dashboard. */
  readonly name: string
  readonly title: string
  readonly panels: readonly PanelText[]
}

const shares = [0.5, 0.95, 0.99]

/** Leaves out refusals: the API waits before it sends the refusals of a client that sends too many requests. */
const NOT_REFUSED = '{status!="5xx"}'

const rate = (series: string): string => `rate(${series}[$__rate_interval])`
const quantile = (share: number, histogram: string, by = '', selector = ''): string =>
  `histogram_quantile(${share}, sum by (le${by}) (${rate(`${histogram}_bucket${selector}`)}))`
const quantiles = (histogram: string, selector = ''): Query[] =>
  shares.map((share) => ({ expr: quantile(share, histogram, '', selector), legend: `p${share * 100}` }))
const one = (expr: string, legend: string): readonly Query[] => [{ expr, legend }]

const reader: DashboardText = {
  name: 'reader',
  title: 'Reader',
  panels: [
    {
      title: 'Blocks per second',
      unit: 'none',
      queries: [
        {
          expr: `sum by (reader) (${rate('pronghorn_reader_commit_blocks_sum')})`,
          legend: '{{reader}} committed',
        },
        { expr: rate('pronghorn_reader_received_blocks_total'), legend: '{{reader}} received' },
      ],
    },
    {
      title: 'Blocks behind the head',
      unit: 'none',
      queries: one('pronghorn_reader_blocks_behind{job="filler"}', '{{reader}}'),
    },
    {
      title: 'Age of the last committed block',
      unit: 's',
      queries: one('pronghorn_reader_seconds_behind{job="filler"}', '{{reader}}'),
    },
    {
      title: 'Time since the last commit, block and message',
      unit: 's',
      queries: ['commit', 'block', 'message'].map((what) => ({
        expr: `time() - pronghorn_reader_last_${what}_timestamp_seconds`,
        legend: `{{reader}} ${what}`,
      })),
    },
    {
      title: 'State',
      unit: 'none',
      queries: [
        { expr: 'pronghorn_reader_state == 1', legend: '{{reader}} {{state}}' },
        { expr: 'pronghorn_reader_stalled', legend: '{{reader}} stalled' },
      ],
    },
    {
      title: 'Reader, receiving: bytes per second',
      unit: 'Bps',
      queries: one(rate('pronghorn_node_received_bytes_total'), '{{reader}} from {{node}}'),
    },
    {
      title: 'Reader, queue: blocks that wait to be applied',
      unit: 'none',
      queries: one('pronghorn_reader_queued_blocks', '{{reader}}'),
    },
    {
      title: 'Reader, queue: bytes of the waiting blocks',
      unit: 'bytes',
      queries: one('pronghorn_reader_held_bytes', '{{reader}}'),
    },
    {
      title: 'Reader, writing: share of the time in commits',
      unit: 'percentunit',
      queries: one(`sum by (reader) (${rate('pronghorn_reader_commit_duration_seconds_sum')})`, '{{reader}}'),
    },
    {
      title: 'Reader, writing: time of a commit, p95',
      unit: 's',
      queries: one(
        quantile(0.95, 'pronghorn_reader_commit_duration_seconds', ', reader, mode'),
        '{{reader}} {{mode}}',
      ),
    },
    {
      title: 'Rows written per second, by table',
      unit: 'none',
      queries: one(`topk(10, sum by (table) (${rate('pronghorn_reader_rows_total')}))`, '{{table}}'),
    },
    {
      title: 'Forks, interruptions of readers and faults of nodes in an hour',
      unit: 'none',
      queries: [
        { expr: 'increase(pronghorn_reader_rollbacks_total[1h])', legend: '{{reader}} forks' },
        { expr: 'increase(pronghorn_reader_interruptions_total[1h])', legend: '{{reader}} interruptions' },
        { expr: 'increase(pronghorn_node_faults_total[1h])', legend: '{{node}} faults' },
      ],
    },
    {
      title: 'Actions and rows left out because no ABI fits',
      unit: 'none',
      queries: [
        { expr: 'pronghorn_reader_undecodable_actions_total', legend: '{{reader}} actions' },
        { expr: 'pronghorn_reader_unknown_tables_total', legend: '{{reader}} rows' },
        { expr: 'pronghorn_reader_missing_blocks', legend: '{{reader}} missing blocks' },
      ],
    },
  ],
}

const api: DashboardText = {
  name: 'api',
  title: 'Api',
  panels: [
    {
      title: 'Requests per second, by status',
      unit: 'reqps',
      queries: one(`sum by (status) (${rate('pronghorn_http_requests_total')})`, '{{status}}'),
    },
    {
      title: 'Requests per second, by route',
      unit: 'reqps',
      queries: one(
        `topk(10, sum by (namespace, route) (${rate('pronghorn_http_requests_total')}))`,
        '{{namespace}} {{route}}',
      ),
    },
    {
      title: 'Time of an answer, except answers with status 5xx',
      unit: 's',
      queries: quantiles('pronghorn_http_request_duration_seconds', NOT_REFUSED),
    },
    ...shares.map((share) => ({
      title: `Time of an answer by route, except answers with status 5xx, p${share * 100}`,
      unit: 's',
      queries: one(
        `topk(10, ${quantile(share, 'pronghorn_http_request_duration_seconds', ', namespace, route', NOT_REFUSED)})`,
        '{{namespace}} {{route}}',
      ),
    })),
    {
      title: 'Share of 5xx',
      unit: 'percentunit',
      queries: one(
        `(sum(${rate('pronghorn_http_requests_total{status="5xx"}')}) or vector(0)) / sum(${rate('pronghorn_http_requests_total')})`,
        '5xx',
      ),
    },
    {
      title: 'Requests in progress',
      unit: 'none',
      queries: one('sum by (instance) (pronghorn_http_requests_in_flight)', '{{instance}}'),
    },
    {
      title: 'Answers in progress',
      unit: 'bytes',
      queries: one('pronghorn_http_answers_bytes', '{{job}} {{instance}}'),
    },
    {
      title: 'Answers per second, by cache result',
      unit: 'reqps',
      queries: one(`sum by (outcome) (${rate('pronghorn_http_cache_answers_total')})`, '{{outcome}}'),
    },
    {
      title: 'Connections to the database',
      unit: 'none',
      queries: [
        {
          expr: 'sum by (server, state) (pronghorn_database_connections)',
          legend: '{{server}} {{state}}',
        },
        { expr: 'sum by (server) (pronghorn_database_connections_limit)', legend: '{{server}} limit' },
        { expr: 'sum by (server) (pronghorn_database_waiting_requests)', legend: '{{server}} waiting' },
      ],
    },
    {
      title: 'Wait for a connection, p95',
      unit: 's',
      queries: one(quantile(0.95, 'pronghorn_database_connection_wait_seconds', ', server'), '{{server}}'),
    },
    {
      title: 'Slowest statements, p95',
      unit: 's',
      queries: one(
        `topk(10, ${quantile(0.95, 'pronghorn_database_query_duration_seconds', ', query')})`,
        '{{query}}',
      ),
    },
    {
      title: 'Failures per second of statements and connections',
      unit: 'none',
      queries: [
        {
          expr: `sum by (kind) (${rate('pronghorn_database_query_errors_total')}) or vector(0)`,
          legend: 'statement {{kind}}',
        },
        {
          expr: `sum by (reason) (${rate('pronghorn_database_refused_total')})`,
          legend: 'refused {{reason}}',
        },
      ],
    },
    {
      title: 'Health and key-value store',
      unit: 'none',
      queries: [
        { expr: 'pronghorn_health', legend: '{{instance}} (0 healthy, 1 degraded, 2 unhealthy)' },
        { expr: 'pronghorn_kvstore_state == 1', legend: 'key-value store {{state}} ({{job}})' },
        { expr: 'pronghorn_certificate_days', legend: 'days of the certificate' },
      ],
    },
  ],
}

const live: DashboardText = {
  name: 'live',
  title: 'Live',
  panels: [
    {
      title: 'Clients',
      unit: 'none',
      queries: one('sum by (transport) (pronghorn_live_clients)', '{{transport}}'),
    },
    {
      title: 'Messages per second',
      unit: 'none',
      queries: one(`sum by (transport) (${rate('pronghorn_live_messages_sent_total')})`, '{{transport}}'),
    },
    {
      title: 'Bytes per second',
      unit: 'Bps',
      queries: one(`sum by (transport) (${rate('pronghorn_live_bytes_sent_total')})`, '{{transport}}'),
    },
    {
      title: 'Queues: bytes that clients have not read yet',
      unit: 'bytes',
      queries: one('sum by (reader) (pronghorn_live_waiting_bytes)', '{{reader}}'),
    },
    {
      title: 'Time from the notification of a block to the last client',
      unit: 's',
      queries: quantiles('pronghorn_live_tell_duration_seconds'),
    },
    {
      title: 'Feed entries received per second, by source',
      unit: 'none',
      queries: one(`sum by (via) (${rate('pronghorn_live_feed_entries_total')})`, '{{via}}'),
    },
    {
      title: 'Messages from the filler to the api per second, by outcome',
      unit: 'none',
      queries: one(`sum by (outcome) (${rate('pronghorn_feed_messages_total')})`, '{{outcome}}'),
    },
    {
      title: 'Events published per second',
      unit: 'none',
      queries: one(`sum by (reader) (${rate('pronghorn_feed_events_total')})`, '{{reader}}'),
    },
    {
      title: 'Clients that were cut or refused, per minute',
      unit: 'none',
      queries: [
        {
          expr: `60 * sum by (reason) (${rate('pronghorn_live_cut_total')}) or vector(0)`,
          legend: 'cut {{reason}}',
        },
        {
          expr: `60 * sum by (reason) (${rate('pronghorn_live_refused_total')})`,
          legend: 'refused {{reason}}',
        },
      ],
    },
  ],
}

const database: DashboardText = {
  name: 'database',
  title: 'Database',
  panels: [
    { title: 'Size', unit: 'bytes', queries: one('pronghorn_database_bytes', 'database') },
    {
      title: 'Growth in a day',
      unit: 'bytes',
      queries: one(
        '86400 * deriv(pronghorn_database_bytes[1h])',
        'growth in a day, at the rate of the last hour',
      ),
    },
    {
      title: 'Largest tables, with their indexes',
      unit: 'bytes',
      queries: one('topk(10, pronghorn_database_table_bytes)', '{{table}}'),
    },
    {
      title: 'Connections of the server',
      unit: 'none',
      queries: [
        { expr: 'pronghorn_database_backends', legend: 'open' },
        { expr: 'pronghorn_database_backends_limit', legend: 'max_connections' },
      ],
    },
    {
      title: 'Share of pages found in the cache of PostgreSQL',
      unit: 'percentunit',
      queries: one(
        'sum(rate(pronghorn_database_pages_total{source="cache"}[5m])) / sum(rate(pronghorn_database_pages_total[5m]))',
        'cache',
      ),
    },
    {
      title: 'Pages read from the file system, a second',
      unit: 'none',
      queries: one('rate(pronghorn_database_pages_total{source="read"}[5m])', 'read'),
    },
    {
      title: 'Servers',
      unit: 'none',
      queries: [
        { expr: 'pronghorn_database_up', legend: '{{server}} answers' },
        {
          expr: 'sum by (server) (pronghorn_database_processes_reading)',
          legend: '{{server}} processes reading',
        },
      ],
    },
    {
      title: 'Replication: seconds behind the primary',
      unit: 's',
      queries: one('max by (server) (pronghorn_replica_lag_seconds)', '{{server}}'),
    },
    {
      title: 'Time since the last successful backup and comparison',
      unit: 's',
      queries: one('time() - pronghorn_task_last_success_timestamp_seconds', '{{task}}'),
    },
    {
      title: 'Tasks that failed (1)',
      unit: 'none',
      queries: one('pronghorn_task_failed', '{{task}}'),
    },
  ],
}

const host: DashboardText = {
  name: 'host',
  title: 'Host',
  panels: [
    { title: 'Services that answer (1)', unit: 'none', queries: one('up', '{{job}} {{instance}}') },
    {
      title: 'Processors used',
      unit: 'none',
      queries: one(rate('process_cpu_seconds_total'), '{{job}} {{instance}}'),
    },
    {
      title: 'Memory',
      unit: 'bytes',
      queries: one('process_resident_memory_bytes', '{{job}} {{instance}}'),
    },
    {
      title: 'Memory of JavaScript',
      unit: 'bytes',
      queries: one('nodejs_heap_size_used_bytes', '{{job}} {{instance}}'),
    },
    {
      title: 'Delay of the event loop, p99',
      unit: 's',
      queries: one('nodejs_eventloop_lag_p99_seconds', '{{job}} {{instance}}'),
    },
    {
      title: 'Open files and connections',
      unit: 'none',
      queries: one('process_open_fds', '{{job}} {{instance}}'),
    },
    {
      title: 'Disk of the database',
      unit: 'bytes',
      queries: [
        { expr: 'pronghorn_database_disk_free_bytes', legend: 'free' },
        { expr: 'pronghorn_database_disk_bytes', legend: 'size' },
      ],
    },
    {
      title: 'Processes of the api',
      unit: 'none',
      queries: [
        { expr: 'pronghorn_workers', legend: '{{instance}}' },
        {
          expr: 'increase(pronghorn_worker_restarts_total[1h])',
          legend: '{{instance}} restarted in an hour',
        },
      ],
    },
    { title: 'Versions', unit: 'none', queries: one('pronghorn_build_info', '{{job}} {{version}}') },
  ],
}

export const dashboards: readonly DashboardText[] = [reader, api, live, database, host]
