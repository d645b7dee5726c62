/**
 * Compares the times of `publish` and `restore` with the times of `pg_dump` and `pg_restore` with the same number of
 * jobs, on a generated database.
 * Usage: node dist/scripts/bench/dump.js --data FOLDER --dumps FOLDER [--factor NUMBER] [--jobs NUMBER] [--pairs NUMBER]
 * A factor of 1 is 1,000,000 assets. `pg_dump` and `pg_restore` must be on the PATH. The two kinds of restore alternate
 * `--pairs` times; each ends with ANALYZE.
 */
import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { SEAL_BLOCKS, sealAtOnce, sealedKinds } from '../../services/core/seals/index.ts'
import { publish, restore } from '../../services/dump/index.ts'
import { createBareDatabase } from './databases.ts'
import { startGeneratedServer } from './generated-server.ts'
import { generatedChainId } from './generated/index.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    dumps: { type: 'string' },
    factor: { type: 'string', default: '0.2' },
    jobs: { type: 'string', default: '2' },
    pairs: { type: 'string', default: '1' },
  },
})
if (values.data === undefined || values.dumps === undefined) {
  console.error(
    'usage: dump.js --data FOLDER --dumps FOLDER [--factor NUMBER] [--jobs NUMBER] [--pairs NUMBER]',
  )
  process.exit(2)
}
const { data, dumps } = values
const jobs = Number(values.jobs)
const { signal } = new AbortController()
const server = await startGeneratedServer(
  { data, seed: 'pronghorn', factor: Number(values.factor) },
  (step) => {
    console.log(step)
  },
)

async function timed<T>(what: string, task: () => Promise<T>): Promise<T> {
  const started = performance.now()
  const result = await task()
  console.log(`${what}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
  return result
}

async function query(address: DatabaseAddress, text: string): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  await client.query(text)
  await client.end()
}

async function dropRestored(): Promise<void> {
  for (const name of ['restored', 'restored_natively'])
    await query(address, `DROP DATABASE IF EXISTS ${name}`)
}

async function seal(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const { rows } = await client.query<{ name: string }>('SELECT name FROM chain.readers')
  const reader = rows[0]!.name
  // The reader in a generated database has no reversible block: insert one.
  await client.query(
    `INSERT INTO chain.reversible_blocks (reader, block_num, block_time, block_id)
     SELECT name, block_num, block_time, block_id FROM chain.readers ON CONFLICT DO NOTHING`,
  )
  for (const kind of sealedKinds)
    await sealAtOnce(client, { kind, reader, rangeBlocks: SEAL_BLOCKS, checkRight: () => Promise.resolve() })
  await client.end()
}

const program = (name: string, args: readonly string[], { host, port, user, password }: DatabaseAddress) =>
  promisify(execFile)(name, [...args], {
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: user,
      PGPASSWORD: password,
    },
  })

const { address } = server
const folder = join(dumps, 'published')
const native = join(dumps, 'pg_dump')
try {
  await mkdir(dumps, { recursive: true })
  await rm(native, { recursive: true, force: true })
  await rm(folder, { recursive: true, force: true })
  await timed('seals', () => seal(address))
  await timed('pg_dump', () =>
    program(
      'pg_dump',
      ['--format=directory', `--jobs=${jobs}`, '--compress=3', `--file=${native}`, address.database],
      address,
    ),
  )
  const first = await timed('publish', () =>
    publish({ database: address, folder, jobs, prune: false, signal }),
  )
  const again = await timed('publish again', () =>
    publish({ database: address, folder, jobs, prune: false, signal }),
  )
  console.log(
    `${first.manifest.rows} rows in ${first.files} files, ${first.newBytes} bytes; the second publication writes ${again.newBytes} bytes`,
  )
  for (let pair = 0; pair < Number(values.pairs); pair++) {
    const restored = await createBareDatabase(address, 'restored')
    await timed('restore', () =>
      restore({ database: restored, chainId: generatedChainId, from: folder, jobs, anew: false, signal }),
    )
    const other = await createBareDatabase(address, 'restored_natively')
    await timed('pg_restore', async () => {
      await program(
        'pg_restore',
        [`--jobs=${jobs}`, '--exit-on-error', `--dbname=${other.database}`, native],
        other,
      )
      await query(other, 'ANALYZE')
    })
    await dropRestored()
  }
} finally {
  await dropRestored()
  await server.stop()
}
