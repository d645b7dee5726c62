import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { certificateFiles, ensureSelfSigned } from '../../services/appliance/tls/certificate.ts'
import { connectDatabase, createPool, databaseFailure } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/index.ts'
import { patient } from '../setup/patience.ts'
import { testedServer } from '../setup/tested-server.ts'

const run = promisify(execFile)
const limits = { applicationName: 'test', statementTimeoutMs: 7_000, settings: { jit: 'off' } }

describe('a server with TLS', () => {
  let dir: string
  let server: EmbeddedPostgres
  /** The server by the IP address of the machine. The server's certificate is not valid for this IP address. */
  let address: DatabaseAddress
  let ca: string

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pronghorn-encrypted-'))
    // When the tests run as root, the server runs as another user, who needs access to the folder.
    await run('chmod', ['755', dir])
    server = await startEmbeddedPostgres({ ...testedServer, dataDir: join(dir, 'data') })
    const { host, port, user, password } = server
    address = { host, port, user, password, database: 'postgres' }
    const folder = join(dir, 'certificate')
    await ensureSelfSigned(folder, 'db.test')
    ca = join(folder, certificateFiles.chain)
    const key = join(folder, certificateFiles.key)
    await run('chmod', ['600', key])
    await run('chown', ['--reference', join(dir, 'data/postgres/PG_VERSION'), key])
    const admin = await connectDatabase(address, limits)
    for (const [name, value] of Object.entries({ ssl_cert_file: ca, ssl_key_file: key, ssl: 'on' }))
      await admin.query(`ALTER SYSTEM SET ${name} = '${value}'`)
    await admin.query('SELECT pg_reload_conf()')
    await admin.end()
    await vi.waitFor(() => isEncrypted({ ...address, ssl: { mode: 'require' } }), {
      timeout: patient(10_000),
    })
  })
  afterAll(async () => {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  })

  async function isEncrypted(to: DatabaseAddress): Promise<boolean> {
    const client = await connectDatabase(to, limits)
    const { rows } = await client.query<{ ssl: boolean }>(
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    )
    await client.end()
    return rows[0]!.ssl
  }

  const failureOf = async (to: DatabaseAddress): Promise<unknown> =>
    isEncrypted(to).catch((cause: unknown) => databaseFailure(cause, 'not reached', to))

  it('a database connection is encrypted as configured', async () => {
    expect(await isEncrypted(address)).toBe(false)
    expect(await isEncrypted({ ...address, ssl: { mode: 'off' } })).toBe(false)
    expect(await isEncrypted({ ...address, ssl: { mode: 'require' } })).toBe(true)
    const verified = { ...address, host: 'localhost', ssl: { mode: 'verify-full', ca_file: ca } } as const
    expect(await isEncrypted(verified)).toBe(true)
  })

  it('a PostgreSQL server is refused if its certificate is of another host or authority, or if the configured CA file is missing', async () => {
    const host = { ...address, ssl: { mode: 'verify-full', ca_file: ca } } as const
    expect(await failureOf(host)).toMatchObject({ code: 'DATABASE_TLS' })
    const authority = { ...address, host: 'localhost', ssl: { mode: 'verify-full' } } as const
    expect(await failureOf(authority)).toMatchObject({ code: 'DATABASE_TLS' })
    const file = { ...address, ssl: { mode: 'verify-full', ca_file: join(dir, 'none.pem') } } as const
    expect(await failureOf(file)).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        /^sqldb\.ssl\.ca_file: .*none\.pem cannot be read \(ENOENT\)$/,
      ) as string,
    })
  })

  it('a PostgreSQL server without TLS is refused if TLS is required', async () => {
    const admin = await connectDatabase(address, limits)
    const set = async (value: string): Promise<void> => {
      await admin.query(`ALTER SYSTEM SET ssl = ${value}`)
      await admin.query('SELECT pg_reload_conf()')
    }
    await set('off')
    const to = { ...address, ssl: { mode: 'require' } } as const
    await expect
      .poll(() => failureOf(to), { timeout: patient(10_000) })
      .toMatchObject({ code: 'DATABASE_TLS' })
    await set('on')
    await admin.end()
  })

  it('connections of a database pool have the configured settings', async () => {
    const pool = createPool(address, { ...limits, max: 2 })
    const { rows } = await pool.query(
      "SELECT current_setting('statement_timeout') AS timeout, current_setting('jit') AS jit",
    )
    expect(rows).toEqual([{ timeout: '7s', jit: 'off' }])
    await pool.end()
  })
})
