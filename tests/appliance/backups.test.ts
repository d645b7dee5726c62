import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { images } from '../../services/core/images/index.ts'
import { examineBackups } from '../../services/appliance/doctor/backups.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless } from '../setup/available.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { composeSources, whyNoCompose, whyNoEngine } from './engine.ts'

const IMAGE = images.postgres
const HOUR_MS = 3_600_000

function whyNot(): string | undefined {
  if (process.env.PRONGHORN_TEST_POSTGRES !== undefined)
    return 'the image is of another version than the server'
  if (process.getuid?.() !== 0) return 'removing what a container has written takes root'
  const reason = whyNoEngine()
  if (reason !== undefined) return reason
  try {
    execFileSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' })
    return undefined
  } catch {
    return `the image ${IMAGE} is not on this machine`
  }
}

interface Run {
  readonly code: number
  readonly output: string
}

describeUnless(whyNoCompose(), 'the folder of the backups', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pronghorn-folder-'))
    await mkdir(join(folder, 'scripts'))
    for (const name of [...composeSources, 'scripts/backup-folder.sh'])
      await cp(join(packageRoot, name), join(folder, name))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each([
    ['', 'backups'],
    ['BACKUP_DIR="$HOME/my backups"', 'my backups'],
    ['BACKUP_DIR=./disk # another one', 'disk'],
    ['BACKUP_DIR=${HOME}/variable', 'variable'],
    [`BACKUP_DIR='./a&b$c"d'`, 'a&b$c"d'],
  ])('scripts/backup-folder.sh reads the backup folder from .env as Compose does: %s', async (line, name) => {
    await writeFile(join(folder, '.env'), `${line}\n`)
    // scripts/backup-folder.sh creates only the default folder inside the project, not a folder that .env names.
    if (line !== '') await mkdir(join(folder, name))
    const words = ['-euc', '. scripts/backup-folder.sh; docker compose config --format json backup']
    const env = { PATH: process.env.PATH, HOME: folder }
    const { stdout } = await promisify(execFile)('sh', words, { cwd: folder, env })
    const { services } = JSON.parse(stdout) as {
      services: { backup: { volumes: { source: string; target: string }[] } }
    }
    const { source } = services.backup.volumes.find(({ target }) => target === '/backups')!
    expect(source.replaceAll('$$', '$')).toBe(join(folder, name))
    expect(await readdir(folder)).toContain(name)
  })

  it('a backup folder that does not exist is refused, and not created', async () => {
    await writeFile(join(folder, '.env'), 'BACKUP_DIR=./bakups\n')
    const env = { PATH: process.env.PATH, HOME: folder }
    const { status, stderr } = spawnSync('sh', ['-euc', '. scripts/backup-folder.sh'], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([
      1,
      `BACKUP_DIR: found "${folder}/bakups" (the path is not a folder), allowed: an existing folder\n`,
    ])
    expect(await readdir(folder)).not.toContain('bakups')
  })
})

describeUnless(whyNot(), 'backups by schedule', () => {
  let folder: string
  let backups: string
  let source: TestDatabase
  const now = Date.now()

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pronghorn-schedule-'))
    backups = join(folder, 'backups')
    source = await createTestDatabase()
    execFileSync('install', ['-d', '-o', '999', '-g', '999', backups])
    await chmod(folder, 0o755)
    await writeFile(join(folder, 'password'), source.address.password)
    await writeFile(
      join(folder, 'hook'),
      '#!/bin/bash\nset -e\ntest -f "$2/manifest.json"\necho "$1" >>/backups/copied\n',
    )
    await chmod(join(folder, 'hook'), 0o755)
    const client = await connectDatabase(source.address, { applicationName: 'test' })
    await client.query("INSERT INTO chain.lists (name, items) VALUES ('verified', '{alice,bob}')")
    await client.end()
  })

  afterAll(async () => {
    await source.drop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Runs the backup schedule in the environment of its container. `--once` runs every due task once. */
  async function keep(variables: Readonly<Record<string, string>>, word = '--once'): Promise<Run> {
    const { host, port, user, database } = source.address
    const environment = {
      PASSWORD_FILE: '/password',
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: user,
      PGDATABASE: database,
      ...variables,
    }
    const words = [
      'run',
      '--rm',
      '--network',
      'host',
      '--user',
      '999:999',
      '--read-only',
      '--cap-drop',
      'ALL',
    ]
    const mounts = [
      ...['--tmpfs', '/tmp:mode=1777', '--tmpfs', '/var/lib/postgresql/data:uid=999,gid=999,mode=700'],
      ...[
        '--volume',
        `${join(packageRoot, 'infra/postgres')}:/scripts:ro`,
        '--volume',
        `${backups}:/backups`,
      ],
      ...[
        '--volume',
        `${join(folder, 'password')}:/password:ro`,
        '--volume',
        `${join(folder, 'hook')}:/hook:ro`,
      ],
    ]
    const settings = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const script = ['--entrypoint', 'bash', IMAGE, '/scripts/keep-backups.sh', word]
    return promisify(execFile)('docker', [...words, ...mounts, ...settings, ...script]).then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
        return { code, output: stdout + stderr }
      },
    )
  }

  const list = async () => (await readdir(backups)).filter((name) => name.startsWith('auto-')).sort()
  const nameAt = (hoursAgo: number): string => {
    const text = new Date(now - hoursAgo * HOUR_MS).toISOString().replaceAll(/[-:]|\..*/g, '')
    return `auto-${text.replace('T', '-')}`
  }
  const copied = async () => (await readFile(join(backups, 'copied'), 'utf8')).trim().split('\n')

  it('the doctor warns if no backup exists yet', async () => {
    expect(await examineBackups(backups, new Date())).toMatchObject(['warn', 'backups', /^no backup/])
  })

  it('the backup schedule writes the first backup at once, passes the backup to the hook, and verifies a restored copy of the backup', async () => {
    expect(await keep({})).toMatchObject({ code: 0 })
    const [first] = await list()
    expect(await copied()).toEqual([first])
    const status = await readFile(join(backups, 'status'), 'utf8')
    expect(status).toContain(`checked=${first!}\n`)
    expect(await keep({}, '--healthy')).toMatchObject({ code: 0 })
    const [level, , note] = await examineBackups(backups, new Date())
    expect(level).toBe('ok')
    expect(note).toContain(`${first!}, is 0 hours old; a restored copy of ${first!} had the same digests`)
    // A second run within the interval of the schedule does nothing.
    expect(await keep({})).toMatchObject({ code: 0, output: '' })
    expect(await list()).toEqual([first])
    const later = new Date(now + 49 * HOUR_MS)
    expect((await examineBackups(backups, later))[0]).toBe('fail')
  })

  it('the backup schedule keeps the newest backups, one backup of each week for some weeks, and the last backup that was compared', async () => {
    const [first = ''] = await list()
    const compared = nameAt(24 * 100)
    await rename(join(backups, first), join(backups, compared))
    await appendFile(join(backups, 'status'), `checked=${compared}\n`)
    const older = [30, 54, 78, 102].map((hours) => nameAt(hours))
    const ancient = nameAt(24 * 90)
    for (const name of [...older, ancient, 'auto-mine']) {
      await cp(join(backups, compared), join(backups, name), { recursive: true })
    }
    execFileSync('chown', ['-R', '999:999', backups])
    expect(await keep({ BACKUP_KEEP: '2', BACKUP_KEEP_WEEKS: '1', BACKUP_CHECK_DAYS: '0' })).toMatchObject({
      code: 0,
    })
    const left = await list()
    const [newest = ''] = left.filter((name) => name > nameAt(1) && name !== 'auto-mine')
    expect(left).toEqual(expect.arrayContaining([newest, older[0], compared, 'auto-mine']))
    expect(left).not.toContain(ancient)
    // The schedule keeps the newest backup of each week, so one or two older backups remain.
    const rest = left.filter((name) => older.slice(1).includes(name))
    expect(rest).toContain(older[1])
    expect(rest.length).toBeLessThanOrEqual(2)
    expect((await copied()).at(-1)).toBe(newest)
  })

  it('the backup schedule reports the failed steps with their time and error', async () => {
    const newest = (await list()).filter((name) => name !== 'auto-mine').at(-1)!
    await appendFile(join(backups, newest, 'manifest.json'), ' ')
    await writeFile(join(folder, 'hook'), '#!/bin/bash\necho no room elsewhere >&2\nexit 3\n')
    const status = await readFile(join(backups, 'status'), 'utf8')
    await writeFile(join(backups, 'status'), status.replaceAll(/^(?:copied|checked_at)=.*\n/gm, ''))
    const { code, output } = await keep({})
    expect([code, output]).toEqual([1, expect.stringContaining(`the backup ${newest} is damaged`)])
    expect((await keep({}, '--healthy')).code).toBe(1)
    const [level, , note] = await examineBackups(backups, new Date())
    expect(level).toBe('fail')
    expect(note).toMatch(/comparison of a restored copy FAILED at \S+: the backup auto-\S+ is damaged/)
    expect(note).toMatch(/hook program that runs after a backup FAILED at \S+: no room elsewhere/)
  })

  it.each([
    ['BACKUP_HOURS', '0'],
    ['BACKUP_AT', '3 am'],
    ['BACKUP_KEEP', '0'],
    ['BACKUP_CHECK_DAYS', 'weekly'],
  ])('the backup schedule refuses %s=%s', async (name, value) => {
    const { code, output } = await keep({ [name]: value })
    expect([code, output]).toEqual([1, expect.stringContaining(`${name}: found "${value}", allowed: `)])
  })
})

describe('the database copy on which migrations are tried', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pronghorn-trial-'))
    await writeFile(join(folder, 'psql'), `#!/bin/sh\nprintf '%s\\n' "$*" >>"${folder}/asked"\n`, {
      mode: 0o755,
    })
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  /**
   * Runs the script that drops the restored trial copy of a backup. Returns the SQL statements and the exit code of the
   * script.
   */
  async function drop(database: string): Promise<{ code: number; asked: string }> {
    await writeFile(join(folder, 'asked'), '')
    const { status } = spawnSync('bash', [join(packageRoot, 'infra/postgres/trial.sh'), 'drop'], {
      env: {
        PATH: `${folder}:${process.env.PATH ?? ''}`,
        PASSWORD_FILE: '/dev/null',
        PGDATABASE: database,
      },
    })
    return { code: status ?? -1, asked: await readFile(join(folder, 'asked'), 'utf8') }
  }

  it('trial.sh drops only the database with the suffix _trial, and refuses a database name too long for the suffix', async () => {
    const longest = 'a'.repeat(57)
    const { code, asked } = await drop(longest)
    expect(code).toBe(0)
    expect(asked).toContain(`DROP DATABASE IF EXISTS "${longest}_trial"`)
    for (const length of [58, 63]) expect(await drop('a'.repeat(length))).toEqual({ code: 1, asked: '' })
  })
})
