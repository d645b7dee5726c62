import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunMode } from '../../core/errors/index.ts'

/** A finding about the backups: level, subject, note. */
export type BackupFinding = readonly ['ok' | 'warn' | 'fail', string, string]

interface Backup {
  readonly name: string
  readonly at: Date
}

const HOUR_MS = 3_600_000
/** Maximum age of the newest backup without a schedule, hours: a week. */
const UNSCHEDULED_HOURS = 168
const MAX_FILE_LENGTH = 100_000

/**
 * Reports the age of the newest complete backup in a folder, and later failures. Also reports when a restored copy was
 * last compared with the digests of its backup. infra/postgres/keep-backups.sh writes the file `status` in the folder.
 */
export async function examineBackups(
  folder: string,
  now: Date,
  mode: RunMode = 'appliance',
): Promise<BackupFinding> {
  const subject = 'backups'
  const status = await readStatus(folder)
  const newest = (await listBackups(folder)).at(-1)
  const failed = (['backup', 'check'] as const).map((what) => describeFailure(status, what)).join('')
  if (!newest) {
    const hint = backupHints[mode]
    return [failed === '' ? 'warn' : 'fail', subject, `no backup; ${hint}${failed}`]
  }
  const every = Number(status.get('every_hours') ?? UNSCHEDULED_HOURS / 2)
  const hours = (now.getTime() - newest.at.getTime()) / HOUR_MS
  const isOld = hours > 2 * every
  const checkedAt = Date.parse(status.get('checked_at') ?? '')
  const checkHours = (now.getTime() - checkedAt) / HOUR_MS
  const checkEvery = Number(status.get('check_hours') ?? 0)
  const isUnchecked = checkEvery > 0 && !(checkHours <= 2 * checkEvery)
  const checked = Number.isNaN(checkedAt)
    ? 'no restored copy was compared yet'
    : `a restored copy of ${status.get('checked') ?? ''} had the same digests as the original database ${describeAge(checkHours)} ago`
  const copy = describeFailure(status, 'copy')
  const level = failed !== '' || isOld ? 'fail' : isUnchecked || copy !== '' ? 'warn' : 'ok'
  const age = `the newest backup, ${newest.name}, is ${describeAge(hours)} old${isOld ? ', OLDER than two intervals' : ''}`
  return [level, subject, `${age}; ${checked}${copy}${failed}`]
}

const backupHints: Readonly<Record<RunMode, string>> = {
  appliance: 'scripts/backup writes a backup now, COMPOSE_PROFILES=backup writes one every day',
  process: 'the unit pronghorn-backup writes backups by schedule (docs/without-containers.md)',
  standalone: 'to back up, stop the program and copy its data directory',
}

const attempts = {
  backup: 'the last backup',
  check: 'the comparison of a restored copy',
  copy: 'the hook program that runs after a backup',
} as const

function describeFailure(status: ReadonlyMap<string, string>, what: keyof typeof attempts): string {
  const failure = status.get(`${what}_failure`)
  if (failure === undefined) return ''
  return `; ${attempts[what]} FAILED at ${status.get(`${what}_failed_at`) ?? 'an unknown time'}: ${failure}`
}

function describeAge(hours: number): string {
  return hours < 48 ? `${Math.max(0, Math.round(hours))} hours` : `${Math.floor(hours / 24)} days`
}

async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.length > MAX_FILE_LENGTH ? '' : text
}

async function readStatus(folder: string): Promise<Map<string, string>> {
  const lines = (await readText(join(folder, 'status'))).split('\n')
  return new Map(
    lines.flatMap((line) => {
      const at = line.indexOf('=')
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : []
    }),
  )
}

/** Complete backups, the oldest first. A backup in progress has the suffix `.partial` and no manifest. */
async function listBackups(folder: string): Promise<Backup[]> {
  const names = await readdir(folder).catch(() => [])
  const found: Backup[] = []
  for (const name of names.filter((each) => !each.endsWith('.partial'))) {
    const text = await readText(join(folder, name, 'manifest.json'))
    const at = Date.parse(/"created_at"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? '')
    if (!Number.isNaN(at)) found.push({ name, at: new Date(at) })
  }
  return found.sort((a, b) => a.at.getTime() - b.at.getTime())
}
