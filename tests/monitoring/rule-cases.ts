/** Scraped series by name; the values are in promtool's notation. */
type Series = Readonly<Record<string, string>>

/** Series for which an alert fires, and series for which it does not. */
export interface RuleCase {
  readonly fires: Series
  readonly quiet: Series
  /** Seconds between two samples. */
  readonly interval?: number
  readonly at?: string
}

const FILLER = 'job="filler",instance="filler:9001"'
const READER = `${FILLER},reader="main"`
const API = 'job="api",instance="api:9100"'
const LAST_BACKUP = `pronghorn_task_last_success_timestamp_seconds{${FILLER},task="backup"}`
const BACKUP_EVERY = `pronghorn_task_interval_seconds{${FILLER},task="backup"}`

const pool = (waiting: number, refused: string): Series => ({
  [`pronghorn_database_waiting_requests{${API},server="primary"}`]: `${waiting}x90`,
  [`pronghorn_database_refused_total{${API},reason="busy"}`]: refused,
  // Refusals with the reason `unavailable` have an alert of their own.
  [`pronghorn_database_refused_total{${API},reason="unavailable"}`]: '0+9x90',
})
const requests = (good: number, bad: number): Series => ({
  [`pronghorn_http_requests_total{${API},status="2xx"}`]: `0+${good}x90`,
  [`pronghorn_http_requests_total{${API},status="5xx"}`]: `0+${bad}x90`,
})
const disk = (free: string): Series => ({
  [`pronghorn_database_disk_free_bytes{${FILLER}}`]: free,
  [`pronghorn_database_disk_bytes{${FILLER}}`]: '1000000000000x90',
})

/** Test series for each alert. The series start at time 0, and promtool evaluates the rules after ten minutes. */
export const ruleCases: Readonly<Record<string, RuleCase>> = {
  ReaderNoCommit: {
    fires: { [`pronghorn_reader_last_commit_timestamp_seconds{${READER}}`]: '0x90' },
    quiet: {
      [`pronghorn_reader_last_commit_timestamp_seconds{${READER}}`]: '0+15x90',
      // A reader at its `stop_block` commits no more blocks and must not fire the alert.
      [`pronghorn_reader_last_commit_timestamp_seconds{${FILLER},reader="done"}`]: '0x90',
      [`pronghorn_reader_state{${FILLER},reader="done",state="stopped"}`]: '1x90',
    },
  },
  ReaderStalled: {
    fires: { [`pronghorn_reader_stalled{${READER}}`]: '1x90' },
    quiet: { [`pronghorn_reader_stalled{${READER}}`]: '1x44 0 1x90' },
  },
  ReaderBehind: {
    fires: { [`pronghorn_reader_blocks_behind{${READER}}`]: '700+5x90' },
    quiet: {
      // One reader is far behind and catches up; the other one is near the head.
      [`pronghorn_reader_blocks_behind{${READER}}`]: '900000-1000x90',
      [`pronghorn_reader_blocks_behind{${FILLER},reader="near"}`]: '590x90',
      // A reader that has stopped at its `stop_block` must not fire the alert.
      [`pronghorn_reader_blocks_behind{${FILLER},reader="done"}`]: '700+5x90',
      [`pronghorn_reader_state{${FILLER},reader="done",state="stopped"}`]: '1x90',
    },
  },
  ApiErrors: { fires: requests(98, 2), quiet: requests(1_000, 9) },
  DatabasePoolExhausted: { fires: pool(0, '0+1x90'), quiet: pool(0, '7x90') },
  DatabaseUnavailable: {
    fires: { [`pronghorn_database_up{${API},server="replica"}`]: '0x90' },
    quiet: { [`pronghorn_database_up{${API},server="primary"}`]: '1x90' },
  },
  DiskFills: {
    // Two disks have 600 GB free each. The first loses 10 GB every five minutes, the second 1 MB.
    fires: disk('600000000000-10000000000x90'),
    quiet: disk('600000000000-1000000x90'),
    interval: 300,
    at: '4h',
  },
  BackupTooOld: {
    fires: { [LAST_BACKUP]: '-10000x90', [BACKUP_EVERY]: '3600x90' },
    quiet: {
      [LAST_BACKUP]: '-10000x90',
      [BACKUP_EVERY]: '86400x90',
      // Another installation, which has no backup schedule, must not fire the alert.
      'pronghorn_task_last_success_timestamp_seconds{job="filler",instance="other",task="backup"}':
        '-500000x90',
      // The alert checks the age of backups only, not the age of the last `verify`.
      [`pronghorn_task_last_success_timestamp_seconds{${FILLER},task="verify"}`]: '-9000000x90',
    },
  },
  BackupFailed: {
    fires: { [`pronghorn_task_failed{${FILLER},task="backup-check"}`]: '1x90' },
    quiet: {
      [`pronghorn_task_failed{${FILLER},task="backup-check"}`]: '0x90',
      [`pronghorn_task_failed{${FILLER},task="verify"}`]: '1x90',
    },
  },
  VerifyFoundDifferences: {
    fires: { [`pronghorn_task_failed{${FILLER},task="verify"}`]: '1x90' },
    quiet: { [`pronghorn_task_failed{${FILLER},task="backup"}`]: '1x90' },
  },
  CertificateEnds: {
    fires: { [`pronghorn_certificate_days{${API}}`]: '13.9x90' },
    quiet: { [`pronghorn_certificate_days{${API}}`]: '60x90' },
  },
  RedisTakesNoWrites: {
    fires: { [`pronghorn_kvstore_up{${API}}`]: '0x90' },
    quiet: { [`pronghorn_kvstore_up{${API}}`]: '1x90' },
  },
  TargetDown: { fires: { [`up{${API}}`]: '0x90' }, quiet: { [`up{${API}}`]: '1x90' } },
}
