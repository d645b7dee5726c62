import { fillerCommand } from '../../services/core/errors/index.ts'

/** Thresholds and durations of the alerts; a test uses shorter durations. */
export interface AlertLimits {
  readonly commitSeconds: number
  readonly behindBlocks: number
  readonly errorShare: number
  readonly certificateDays: number
  readonly diskDays: number
  /** Largest age of a backup, if no schedule is configured, days. */
  readonly backupDays: number
  /**
   * How long a condition must last before an alert fires: `soon` for faults that stop a service, `later` for faults
   * that slow it down.
   */
  readonly soon: string
  readonly later: string
  /**
   * Windows of rates: `window` for shares of requests, `lagWindow` for the reader's lag, `diskWindow` for free disk
   * space.
   */
  readonly window: string
  readonly lagWindow: string
  readonly diskWindow: string
}

/** Thresholds of infra/monitoring/rules.yml. */
export const standardLimits: AlertLimits = {
  commitSeconds: 60,
  behindBlocks: 600,
  errorShare: 0.01,
  certificateDays: 14,
  diskDays: 14,
  backupDays: 7,
  soon: '1m',
  later: '5m',
  window: '5m',
  lagWindow: '10m',
  diskWindow: '6h',
}

/** An alert: its rule, and its section of docs/alerts.md. */
export interface Alert {
  readonly name: string
  readonly severity: 'critical' | 'warning'
  readonly expr: string
  readonly lasts: string
  /** One sentence, with placeholders for labels and value in the syntax of Prometheus. */
  readonly summary: string
  /** When the alert fires, for the documentation. */
  readonly meaning: string
  /** Instructions for the operator, in Markdown. */
  readonly remedy: readonly string[]
}

const DAY_S = 86_400

/** All alerts with these thresholds. */
export function listAlerts(limits: AlertLimits): Alert[] {
  return [
    ...readerAlerts(limits),
    ...requestAlerts(limits),
    ...databaseAlerts(limits),
    ...otherAlerts(limits),
  ]
}

function readerAlerts({ commitSeconds, behindBlocks, soon, later, lagWindow }: AlertLimits): Alert[] {
  /** PromQL condition that excludes readers that have stopped at their `stop_block`. */
  const unlessStopped = ' unless on (instance, reader) pronghorn_reader_state{state="stopped"} == 1'
  const behind = 'pronghorn_reader_blocks_behind{job="filler"}'
  return [
    {
      name: 'ReaderNoCommit',
      severity: 'critical',
      expr: `time() - pronghorn_reader_last_commit_timestamp_seconds > ${commitSeconds}` + unlessStopped,
      lasts: soon,
      summary: 'Reader {{ $labels.reader }} has committed nothing for {{ $value | humanizeDuration }}',
      meaning: `A reader that is not at its \`stop_block\` has committed nothing for ${commitSeconds} seconds.`,
      remedy: [
        'The health of the filler contains the cause, and the seconds since the last message, block and commit:',
        command(
          'docker compose exec filler bash infra/probe.sh --print /health',
          'docker compose logs --tail 50 filler',
        ),
        'The usual causes are a chain node that sends nothing (`chain.ship`: restart the node, or name a second one in `CHAIN_SHIP`), a database that does not answer ([DatabaseUnavailable](#databaseunavailable)), a full disk ([DiskFills](#diskfills)), and a lock that another session holds:',
        command(
          'docker compose exec postgres psql -U postgres -c "SELECT pid, datname, state, wait_event_type, now() - xact_start AS since, left(query, 80) FROM pg_stat_activity ORDER BY since DESC NULLS LAST LIMIT 10"',
        ),
        'If you use your own PostgreSQL server, run this query there.',
      ],
    },
    {
      name: 'ReaderStalled',
      severity: 'critical',
      expr: 'pronghorn_reader_stalled == 1',
      lasts: soon,
      summary: 'Reader {{ $labels.reader }} does not progress although work is pending',
      meaning: 'The filler reports that a reader does not progress although work is pending.',
      remedy: [
        '`/health` of the filler describes the problem; `docs/errors.md` describes the remedy for each code in the log:',
        command(
          'docker compose exec filler bash infra/probe.sh --print /health',
          'docker compose logs --tail 50 filler',
        ),
      ],
    },
    {
      name: 'ReaderBehind',
      severity: 'warning',
      expr: `${behind} > ${behindBlocks} and deriv(${behind}[${lagWindow}]) >= 0${unlessStopped}`,
      lasts: later,
      summary: 'Reader {{ $labels.reader }} is {{ $value }} blocks behind, and not catching up',
      meaning: `A reader is more than ${behindBlocks} blocks behind the head, and the distance does not shrink. The alert does not fire for a reader that catches up, or that has stopped at its \`stop_block\`.`,
      remedy: [
        'Look at the dashboard _Reader_: if blocks are queued, the database is the bottleneck; if no blocks are queued, the node is the bottleneck.',
        command('scripts/doctor', 'docker compose stats --no-stream'),
        'If the node is slow, add a second node to `CHAIN_SHIP`, best in the same network. If the database is slow, give it more memory (`PG_MEMORY`) or a faster disk, or reduce the requests to the api.',
      ],
    },
  ]
}

function requestAlerts({ errorShare, soon, later, window }: AlertLimits): Alert[] {
  const answered = (selector: string): string =>
    `sum(rate(pronghorn_http_requests_total${selector}[${window}]))`
  return [
    {
      name: 'ApiErrors',
      severity: 'critical',
      expr: `${answered('{status="5xx"}')} / ${answered('')} > ${errorShare}`,
      lasts: later,
      summary: '{{ $value | humanizePercentage }} of the requests are answered with 5xx',
      meaning: `More than ${errorShare * 100} % of the requests are answered with a status of 500 or above.`,
      remedy: [
        'The logs show the affected routes and the causes:',
        command(
          'docker compose logs --since 10m nginx | grep \'"status":5\' | tail -5',
          'docker compose logs --since 10m api | grep \'"level":50\' | tail -5',
        ),
        '503 with `Retry-After` means that the database does not answer ([DatabaseUnavailable](#databaseunavailable)) or that all database connections are busy ([DatabasePoolExhausted](#databasepoolexhausted)).',
      ],
    },
    {
      name: 'DatabasePoolExhausted',
      severity: 'warning',
      expr: `pronghorn_database_waiting_requests > 0 or rate(pronghorn_database_refused_total{reason="busy"}[${window}]) > 0`,
      lasts: soon,
      summary: 'Requests wait for a connection to the database, or are refused one',
      meaning:
        'Requests of the api constantly wait for a database connection, or are refused because too many requests wait. The alert can fire although some connections are idle, because they are reserved for brief statements.',
      remedy: [
        'Slow statements occupy connections. The dashboard _Api_ shows the slowest statements by name; the log contains statements slower than `SLOW_QUERY_THRESHOLD`:',
        command("docker compose logs --since 10m api | grep 'slow' | tail -5"),
        'If the database server is idle, raise `MAX_DB_CONNECTIONS` in `.env` and run `scripts/apply`. If it is busy, lower `RATE_LIMIT_REQUESTS`, raise `CACHE_LIFE` or add a replica ([scale.md](scale.md)).',
      ],
    },
  ]
}

function databaseAlerts({ soon, diskDays, diskWindow }: AlertLimits): Alert[] {
  return [
    {
      name: 'DatabaseUnavailable',
      severity: 'critical',
      expr: 'pronghorn_database_up == 0',
      lasts: soon,
      summary: 'The database server {{ $labels.server }} does not answer the api',
      meaning: 'A database server, the primary or a replica, does not answer the api.',
      remedy: [
        command(
          'docker compose ps postgres',
          'docker compose logs --tail 30 postgres',
          'docker compose up -d postgres',
        ),
        'If you use your own PostgreSQL server, examine that server: `scripts/doctor` names its address and the error. Until the primary is available again, replicas answer requests. The filler then continues by itself.',
      ],
    },
    {
      name: 'DiskFills',
      severity: 'critical',
      expr:
        `predict_linear(pronghorn_database_disk_free_bytes[${diskWindow}], ${diskDays * DAY_S}) < 0` +
        ' or pronghorn_database_disk_free_bytes / pronghorn_database_disk_bytes < 0.05',
      lasts: soon,
      summary: 'The disk of the database is full within days',
      meaning: `At the growth rate of the last ${diskWindow}, the disk of the database will be full within ${diskDays} days, or less than 5 % of the disk is free. During the first indexing of a chain the disk may suffice nevertheless: compare with [sizing.md](sizing.md).`,
      remedy: [
        command('scripts/doctor', 'docker system df', 'du -sh backups'),
        'To free space, retain fewer backups (`BACKUP_KEEP`), write them to another disk (`BACKUP_DIR`), or remove unused images (`docker image prune`). Without `store_logs` and `store_transfers` in the readers file a block takes less space. A full disk stops the reader; no data are lost, and the reader continues when space is free.',
      ],
    },
  ]
}

function otherAlerts(limits: AlertLimits): Alert[] {
  const { soon, later, certificateDays, backupDays } = limits
  const age = 'time() - pronghorn_task_last_success_timestamp_seconds{task="backup"}'
  const interval = 'pronghorn_task_interval_seconds{task="backup"}'
  return [
    {
      name: 'BackupTooOld',
      severity: 'warning',
      expr: `${age} > 2 * ${interval} or (${age} > ${backupDays * DAY_S} unless ${interval})`,
      lasts: soon,
      summary: 'The newest backup is {{ $value | humanizeDuration }} old',
      meaning: `The newest backup is older than two intervals of the schedule, or, without a schedule, older than ${backupDays} days. The alert cannot fire before the first backup; \`scripts/doctor\` warns in this case.`,
      remedy: [
        command('docker compose logs --tail 30 backups', 'scripts/backup'),
        '[operate.md](operate.md#backups-by-schedule) describes backups by schedule.',
      ],
    },
    {
      name: 'BackupFailed',
      severity: 'warning',
      expr: 'pronghorn_task_failed{task=~"backup.*"} == 1',
      lasts: soon,
      summary: 'The last {{ $labels.task }} failed',
      meaning:
        'The last attempt of a backup (`backup`), of the comparison of a restored copy (`backup-check`) or of the hook (`backup-copy`) failed.',
      remedy: [
        '`scripts/doctor` shows cause and time of the failure; the schedule retries by itself.',
        command('scripts/doctor', 'docker compose logs --tail 30 backups'),
        'If the comparison fails, the backup is not reliable: write a new backup with `scripts/backup`, and compare the new one.',
      ],
    },
    {
      name: 'VerifyFoundDifferences',
      severity: 'critical',
      expr: 'pronghorn_task_failed{task="verify"} == 1',
      lasts: '0s',
      summary: 'The last comparison with the chain found rows that differ',
      meaning:
        'The last `pronghorn verify` found rows that differ from the chain, or derived values that contradict the rows. The alert ends when a comparison of the whole database finds no difference.',
      remedy: [
        'The first command shows the differences, the second the rows that a repair would write; the third stops the filler and repairs the rows. `--state` compares with the rows that the handler `state` stores; without that handler see [operate.md](operate.md#other-commands-in-containers).',
        command(
          fillerCommand('verify'),
          fillerCommand('verify --repair'),
          `docker compose stop filler && ${fillerCommand('verify --state --repair --yes')}; docker compose start filler`,
        ),
        '[verify.md](verify.md) describes the possible causes of differences. Report a difference without such a cause.',
      ],
    },
    {
      name: 'CertificateEnds',
      severity: 'critical',
      expr: `pronghorn_certificate_days < ${certificateDays}`,
      lasts: later,
      summary: 'The served certificate expires in {{ $value | humanize }} days',
      meaning: `The certificate that the proxy serves expires within ${certificateDays} days, or the proxy does not answer (value -1).`,
      remedy: [
        command('scripts/doctor', 'docker compose logs --tail 30 nginx certificates'),
        'With `TLS_MODE=acme` the service `certificates` renews the certificate; its log contains the cause of a failure. Port 80 of `DOMAIN` must lead to this host. With `TLS_MODE=files`, put new files into `TLS_DIR`, readable by other users; the proxy loads them within ten seconds.',
      ],
    },
    {
      name: 'RedisTakesNoWrites',
      severity: 'warning',
      expr: 'pronghorn_kvstore_up == 0',
      lasts: soon,
      summary: 'Redis does not answer {{ $labels.job }}, or refuses writes',
      meaning:
        'Redis does not answer, or refuses writes. Answers remain correct; each process counts rate limits by itself, and live events come from the database.',
      remedy: [
        '`/health` and the metric `pronghorn_kvstore_state` name the cause: a read-only replica, no memory left, a snapshot that cannot be saved.',
        command('scripts/doctor', 'docker compose logs --tail 30 redis', 'docker compose restart redis'),
        'The bundled Redis contains no data that must be retained, so a restart loses nothing. For your own Redis use `REPLICAOF NO ONE`, raise `maxmemory`, or free disk space.',
      ],
    },
    {
      name: 'TargetDown',
      severity: 'critical',
      expr: 'up == 0',
      lasts: soon,
      summary: '{{ $labels.job }} at {{ $labels.instance }} does not answer Prometheus',
      meaning:
        'A service does not answer Prometheus. Until it answers, no other alert about this service can fire.',
      remedy: [
        command(
          'docker compose ps',
          'docker compose logs --tail 30 filler api state',
          'docker compose up -d --wait',
        ),
      ],
    },
  ]
}

function command(...lines: string[]): string {
  return ['```sh', ...lines, '```'].join('\n')
}
