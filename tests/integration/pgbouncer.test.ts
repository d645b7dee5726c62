import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { connectDatabase, createPool, refusePooledTransactions } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { describeUnless, findProgram } from '../setup/available.ts'
import { createTestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'

const binary = findProgram('pgbouncer')
const limits = { applicationName: 'test' }
/** PgBouncer refuses to run as root; 65534 is the user `nobody`. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Runs a task with a database behind PgBouncer in the given pool mode, with default settings otherwise. */
async function behindPgBouncer(
  mode: string,
  task: (pooled: DatabaseAddress, direct: DatabaseAddress) => Promise<void>,
): Promise<void> {
  const test = await createTestDatabase()
  const { address } = test
  const dir = await mkdtemp(join(tmpdir(), 'pronghorn-pgbouncer-'))
  await chmod(dir, 0o755)
  const port = await findFreePort()
  const { host, port: serverPort, user, password, database } = address
  await writeFile(
    join(dir, 'pgbouncer.ini'),
    `[databases]
${database} = host=${host} port=${serverPort} user=${user} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
    { mode: 0o644 },
  )
  const child = spawn(binary!, [join(dir, 'pgbouncer.ini')], {
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    ...account,
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  try {
    await expect.poll(() => output, { timeout: patient(10_000) }).toContain('process up')
    await task({ ...address, host: '127.0.0.1', port }, address)
  } finally {
    child.kill('SIGKILL')
    await test.drop()
    await rm(dir, { recursive: true, force: true })
  }
}

async function check(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, limits)
  try {
    await refusePooledTransactions(client, address)
  } finally {
    await client.end()
  }
}

describeUnless(binary === undefined ? 'there is no pgbouncer on the PATH' : undefined, 'PgBouncer', () => {
  it('PgBouncer in session mode is accepted, and its connections have the configured settings', () =>
    behindPgBouncer('session', async (pooled, direct) => {
      await check(direct)
      await check(pooled)
      const pool = createPool(pooled, {
        ...{ ...limits, max: 3, statementTimeoutMs: 7_000, settings: { jit: 'off' } },
      })
      const read = async () => {
        const { rows } = await pool.query({
          name: 'settings',
          text: "SELECT current_setting('statement_timeout') AS timeout, current_setting('jit') AS jit",
        })
        return rows as unknown
      }
      for (const found of await Promise.all([read(), read(), read(), read()]))
        expect(found).toEqual([{ timeout: '7s', jit: 'off' }])
      await pool.end()
    }))

  it.each(['transaction', 'statement'])('PgBouncer in %s mode is refused with the reason', (mode) =>
    behindPgBouncer(mode, async (pooled) => {
      await expect(check(pooled)).rejects.toMatchObject({
        code: 'DATABASE_POOLER',
        message: expect.stringMatching(/gives each transaction another session$/) as string,
      })
    }),
  )
})
