import type { MetricEntry } from './entry.ts'

/** Metrics of the installation that belong to no reader and no request. */
export const installationMetrics = {
  // Metrics of the database and of maintenance tasks
  pronghorn_database_bytes: {
    kind: 'gauge',
    help: 'Size of the database.',
    labels: [],
    programs: ['filler'],
  },
  pronghorn_database_table_bytes: {
    kind: 'gauge',
    help: 'Size of a table with its indexes; a table includes its partitions. Measured every five minutes.',
    labels: ['table'],
    programs: ['filler'],
  },
  pronghorn_database_backends: {
    kind: 'gauge',
    help: 'Open connections of the database server, of all programs.',
    labels: [],
    programs: ['filler'],
  },
  pronghorn_database_backends_limit: {
    kind: 'gauge',
    help: 'Maximum number of connections of the database server (max_connections).',
    labels: [],
    programs: ['filler'],
  },
  pronghorn_database_pages_total: {
    kind: 'counter',
    help: 'Pages that statements used, by source: cache (shared_buffers) or read (from the file system, which may have them in memory).',
    labels: ['source'],
    programs: ['filler'],
  },
  pronghorn_database_disk_free_bytes: {
    kind: 'gauge',
    help: 'Free bytes of the disk of the database; absent unless `--disk` names a folder on this disk.',
    labels: [],
    programs: ['filler'],
  },
  pronghorn_database_disk_bytes: {
    kind: 'gauge',
    help: 'Size of the disk of the database.',
    labels: [],
    programs: ['filler'],
  },
  pronghorn_task_last_success_timestamp_seconds: {
    kind: 'gauge',
    help: 'Time of the last success of a task, seconds since 1970. Tasks: backup, backup-check (a restored copy was compared), backup-copy (the hook that copies a backup elsewhere) and verify.',
    labels: ['task'],
    programs: ['filler'],
  },
  pronghorn_task_failed: {
    kind: 'gauge',
    help: '1 if the last attempt of a task failed; for verify, if it found differences.',
    labels: ['task'],
    programs: ['filler'],
  },
  pronghorn_task_interval_seconds: {
    kind: 'gauge',
    help: 'Interval between two attempts of a scheduled task.',
    labels: ['task'],
    programs: ['filler'],
  },

  // Metrics of every program
  pronghorn_build_info: {
    kind: 'gauge',
    help: 'Always 1; the version is in the label.',
    labels: ['version'],
    programs: ['api', 'filler', 'state'],
    aggregation: 'first',
  },
} as const satisfies Record<string, MetricEntry>
