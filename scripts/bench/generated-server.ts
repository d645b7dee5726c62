/** A PostgreSQL server with a generated database, stored in a folder or temporary. */
import {
  buildQueryIndexes,
  connectDatabase,
  listIndexFamilies,
  migrate,
} from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { fullSizes, generateDatabase, scaledSizes } from './generated/index.ts'

/** Options of the command line: `--data FOLDER`, `--seed TEXT`, `--factor NUMBER`. */
export interface GeneratedOptions {
  /** Folder that keeps the server between runs; without it everything is generated and removed. */
  readonly data?: string
  readonly seed: string
  /** 1 for the full database. */
  readonly factor: number
}

/** A running server. */
export interface GeneratedServer {
  readonly address: DatabaseAddress
  stop(): Promise<void>
}

const serverSettings = {
  shared_buffers: '1GB',
  effective_cache_size: '4GB',
  maintenance_work_mem: '256MB',
  max_wal_size: '8GB',
  // What is lost in a crash is generated again.
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  random_page_cost: '1.1',
  // One processor for each request: what is fast then stays fast when others ask too.
  max_parallel_workers_per_gather: '0',
}

/**
 * Starts the server; generates the database when the folder does not have the one that was requested. One that is there
 * gets the migrations and query indexes that it lacks.
 */
export async function startGeneratedServer(
  options: GeneratedOptions,
  note: (step: string) => void,
): Promise<GeneratedServer> {
  const server = await startEmbeddedPostgres({
    settings: serverSettings,
    ...(options.data === undefined ? {} : { dataDir: options.data }),
  })
  const { host, port, user, password } = server
  const database = `generated_${options.seed}_${String(options.factor).replace('.', '_')}`
  const address = { host, port, user, password, database }
  try {
    await ensureDatabase(address, options, note)
  } catch (error) {
    await server.stop()
    throw error
  }
  return { address, stop: () => server.stop() }
}

/** What `parseArgs` reads into `GeneratedArguments`. */
export const generatedArguments = {
  data: { type: 'string' },
  server: { type: 'string' },
  seed: { type: 'string', default: 'pronghorn' },
  factor: { type: 'string', default: '1' },
} as const

/** Options as a command line has them; `server` is the address of a running server's database, as JSON. */
export interface GeneratedArguments {
  readonly data?: string | undefined
  readonly server?: string | undefined
  readonly seed: string
  readonly factor: string
}

/** The server that a command line asks for: one that runs already, or one of its own. What it does goes to stderr. */
export async function openGeneratedServer(given: GeneratedArguments): Promise<GeneratedServer> {
  if (given.server !== undefined) {
    return { address: JSON.parse(given.server) as DatabaseAddress, stop: () => Promise.resolve() }
  }
  const { data, seed, factor } = given
  return startGeneratedServer(
    { seed, factor: Number(factor), ...(data === undefined ? {} : { data }) },
    (step) => {
      console.error(step)
    },
  )
}

async function ensureDatabase(
  address: DatabaseAddress,
  { seed, factor }: GeneratedOptions,
  note: (step: string) => void,
): Promise<void> {
  const admin = await connectDatabase({ ...address, database: 'postgres' }, { applicationName: 'generate' })
  const { rows } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [address.database])
  const partial = `${address.database}_partial`
  if (rows.length === 0) {
    await admin.query(`DROP DATABASE IF EXISTS ${partial}`)
    await admin.query(`CREATE DATABASE ${partial}`)
    const target = { ...address, database: partial }
    await migrateDatabase(target)
    const started = performance.now()
    await generateDatabase(target, factor === 1 ? fullSizes : scaledSizes(factor), seed, (step) => {
      note(`${((performance.now() - started) / 1_000).toFixed(1)} s: ${step}`)
    })
    await admin.query(`ALTER DATABASE ${partial} RENAME TO ${address.database}`)
  } else {
    await migrateDatabase(address)
    await buildMissingIndexes(address)
  }
  await admin.end()
}

async function migrateDatabase(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'generate' })
  try {
    await migrate(client)
  } finally {
    await client.end()
  }
}

async function buildMissingIndexes(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'generate' })
  try {
    for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
  } finally {
    await client.end()
  }
}
