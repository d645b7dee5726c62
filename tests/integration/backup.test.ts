import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { readTasks } from '../../services/core/upkeep/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/index.ts'
import { compareDigests } from '../../services/verify/index.ts'
import { describeUnless, findProgram } from '../setup/available.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { newerServer } from '../setup/tested-server.ts'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { createIndexedDatabase } from './indexed-database.ts'

const missing = ['bash', 'psql', 'pg_dump', 'pg_restore'].filter((name) => findProgram(name) === undefined)
const isNewer = process.env.PRONGHORN_TEST_POSTGRES !== undefined
const reason =
  missing.length > 0
    ? `there is no ${missing.join(', ')} on the PATH`
    : isNewer
      ? 'the pg_dump of the machine may be older than the server'
      : undefined
const fork = join(import.meta.dirname, '../fixtures/recordings/fork')

describeUnless(reason, 'backup and restore', () => {
  let folder: string
  let source: TestDatabase
  let target: TestDatabase
  let newer: EmbeddedPostgres

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pronghorn-backups-'))
    source = await createIndexedDatabase({
      chain: { recordings: [fork], replay: 'recorded' },
      stopBlock: 403,
    })
    target = await createTestDatabase('template0')
    newer = await startEmbeddedPostgres(newerServer)
  })

  afterAll(async () => {
    await newer.stop()
    await source.drop()
    await target.drop()
    await rm(folder, { recursive: true, force: true })
  })

  async function run(
    script: string,
    args: readonly string[],
    address: DatabaseAddress,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    await writeFile(join(folder, 'password'), address.password)
    const { stdout } = await promisify(execFile)(
      'bash',
      [join(packageRoot, 'infra/postgres', script), ...args],
      {
        env: {
          ...process.env,
          ...variables,
          PASSWORD_FILE: join(folder, 'password'),
          BACKUPS_FOLDER: folder,
          PGHOST: address.host,
          PGPORT: String(address.port),
          PGUSER: address.user,
          PGDATABASE: address.database,
        },
      },
    )
    return stdout
  }

  it('a backup is recorded for the metrics; a database of an earlier version, without chain.note_task, is backed up as well', async () => {
    await run('backup.sh', ['noted'], source.address)
    const client = await connectDatabase(source.address, { applicationName: 'test' })
    expect(await readTasks(client)).toMatchObject([{ name: 'backup', intervalSeconds: null, failure: null }])
    await client.query('ALTER FUNCTION chain.note_task RENAME TO note_nothing')
    await run('backup.sh', ['not-noted'], source.address)
    await client.query('ALTER FUNCTION chain.note_nothing RENAME TO note_task')
    await client.end()
  })

  it('a failed backup is recorded with reason, schedule and time of the first failure', async () => {
    const keep = () => run('keep-backups.sh', ['--once'], source.address).catch(() => '')
    const client = await connectDatabase(source.address, { applicationName: 'test' })
    await client.query('ALTER TABLE chain.identity RENAME TO renamed')
    await keep()
    const [first] = await readTasks(client)
    await keep()
    const [second] = await readTasks(client)
    await client.query('ALTER TABLE chain.renamed RENAME TO identity')
    await client.end()
    expect(first).toMatchObject({ name: 'backup', intervalSeconds: 86_400 })
    expect(first?.failedAt).toBeInstanceOf(Date)
    expect(first?.failure).not.toBe('')
    expect(second?.failedAt).toEqual(first?.failedAt)
  })

  it('the manifest of a backup contains the digest of the database, and a database restored on PostgreSQL 14 or 18 has an equal digest', async () => {
    await run('backup.sh', ['whole'], source.address)
    const manifest = JSON.parse(await readFile(join(folder, 'whole/manifest.json'), 'utf8')) as {
      digest: { all: string; tables: Record<string, string> }
    }
    const before = await digestOf(source.address)
    expect(manifest.digest.all).toBe(before.digest)
    expect(Object.keys(manifest.digest.tables).sort()).toEqual(
      before.tables.filter(({ rows }) => rows > 0n).map(({ name }) => name),
    )
    await run('restore.sh', ['whole'], target.address)
    expect(compareDigests(before, await digestOf(target.address))).toEqual([])

    const { host, port, user, password } = newer
    const maintenance = { host, port, user, password, database: 'postgres' }
    const admin = await connectDatabase(maintenance, { applicationName: 'test' })
    await admin.query('CREATE DATABASE restored TEMPLATE template0')
    await admin.end()
    await run('restore.sh', ['whole'], { ...maintenance, database: 'restored' })
    const restored = await digestOf({ ...maintenance, database: 'restored' })
    expect(compareDigests(before, restored)).toEqual([])
    expect(restored.digest).toBe(before.digest)
  })

  it('a backup does not start if less disk space is free than the newest backup takes', async () => {
    await run('backup.sh', ['before'], source.address)
    const programs = join(folder, 'programs')
    await mkdir(programs)
    await writeFile(join(programs, 'df'), '#!/bin/sh\necho head\necho disk 100 99 1 99% /\n', { mode: 0o755 })
    const variables = { PATH: `${programs}:${process.env.PATH ?? ''}` }
    await expect(run('backup.sh', ['after'], source.address, variables)).rejects.toThrow(
      /the disk of the backups has 0 MiB free and the newest backup takes \d+ MiB: .*BACKUP_DIR/,
    )
    expect(await readdir(folder)).not.toContain('after')
    await rm(programs, { recursive: true })
  })

  it('a failed backup leaves no files behind', async () => {
    const { database } = source.address
    await expect(
      run('backup.sh', ['none'], { ...source.address, database: `${database}x` }),
    ).rejects.toThrow()
    expect((await readdir(folder)).filter((name) => name.startsWith('none'))).toEqual([])
  })

  it('a restored database that differs from its backup is reported', async () => {
    await run('backup.sh', ['other'], source.address)
    const file = join(folder, 'other/manifest.json')
    const manifest = JSON.parse(await readFile(file, 'utf8')) as {
      digest: { tables: Record<string, string> }
    }
    manifest.digest.tables['assets.offers'] = '0'.repeat(32)
    await writeFile(file, JSON.stringify(manifest))
    const sums = await readFile(join(folder, 'other/SHA256SUMS'), 'utf8')
    const sum = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
    await writeFile(
      join(folder, 'other/SHA256SUMS'),
      sums.replace(/^[0-9a-f]{64} {2}\.\/manifest\.json$/m, `${sum}  ./manifest.json`),
    )
    const empty = await createTestDatabase('template0')
    await expect(run('restore.sh', ['other'], empty.address)).rejects.toThrow(
      'does not hold what was backed up: the digests of assets.offers differ',
    )
    await empty.drop()
  })
})

describe('scripts that run PostgreSQL programs', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pronghorn-programs-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Runs a script with stand-ins for programs, and returns its whole output. */
  async function run(
    script: string,
    args: readonly string[],
    programs: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>>,
  ): Promise<string> {
    const bin = await mkdtemp(join(folder, 'bin-'))
    for (const [name, text] of Object.entries(programs)) {
      await writeFile(join(bin, name), `#!/bin/bash\n${text}\n`)
      await chmod(join(bin, name), 0o755)
    }
    // The script finds only the tools of this list on its PATH, so it cannot find PostgreSQL programs of the machine.
    for (const tool of ['bash', 'cat', 'chmod', 'dirname', 'mkdir', 'mktemp', 'mv', 'nproc', 'rm', 'sed'])
      await symlink(join('/usr/bin', tool), join(bin, tool))
    const words = [join(packageRoot, 'infra/postgres', script), ...args]
    const options = { env: { PATH: bin, TMPDIR: folder, ...env } }
    return promisify(execFile)('bash', words, options).then(
      ({ stdout, stderr }) => stdout + stderr,
      (error: unknown) => {
        const { stdout, stderr } = error as { stdout: string; stderr: string }
        return stdout + stderr
      },
    )
  }

  it('a replica retries its base copy until it is complete, also with special characters in the password', async () => {
    const env = {
      PASSWORD_FILE: join(folder, 'password'),
      PGDATA: join(folder, 'data'),
      PGHOST: 'primary',
      PGPORT: '5432',
      PGUSER: 'postgres',
    }
    await writeFile(env.PASSWORD_FILE, 'a:b\\c')
    // Files that an interrupted base backup leaves behind.
    await mkdir(env.PGDATA)
    await writeFile(join(env.PGDATA, 'PG_VERSION'), '14')
    const begin = 'data=${1#--pgdata=}; mkdir -p "$data/global"; echo 14 >"$data/PG_VERSION"'
    const programs = { sleep: 'exit 1', postgres: 'echo "server in $2"; cat "$TMPDIR/replication.pgpass"' }
    const cutOff = { ...programs, pg_basebackup: `${begin}; echo x >"$data/global/pg_control"; exit 1` }
    const whole = { ...programs, pg_basebackup: `echo copying; ${begin}; echo x >"$data/global/pg_control"` }
    expect(await run('replica.sh', [], cutOff, env)).toBe('')
    const served = `server in ${env.PGDATA}\n*:*:*:*:a\\:b\\\\c\n`
    expect(await run('replica.sh', [], whole, env)).toBe(`copying\n${served}`)
    expect(await run('replica.sh', [], whole, env)).toBe(served)
  })

  it("the comparison of a backup uses the PostgreSQL programs of the server's version", async () => {
    const env = { PASSWORD_FILE: '/dev/null', BACKUPS_FOLDER: folder, SCRATCH_FOLDER: folder }
    expect(await run('check-backup.sh', ['any'], { psql: 'echo 990001' }, env)).toBe(
      'there is no initdb of PostgreSQL 99 on the PATH or in /usr/lib/postgresql/99/bin\n',
    )
  })
})
