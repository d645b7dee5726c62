import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type pg from 'pg'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { readSeals, sealAtOnce, sealedKinds } from '../../services/core/seals/index.ts'
import type { KindSeals } from '../../services/core/seals/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/index.ts'
import { findProgram } from '../setup/available.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { rounds } from '../setup/rounds.ts'
import { sealDatabase } from '../setup/seals.ts'
import { newerServer } from '../setup/tested-server.ts'
import { MirrorNode } from '../../scripts/lab/index.ts'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { createFillerHome } from './filler-process.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { PositionWatch } from './position.ts'
import { createRandom } from './seeded-random.ts'

/** Number of kills and number of forks. DIGEST_KILLS and DIGEST_FORKS override the defaults. */
const kills = Number(process.env.DIGEST_KILLS ?? rounds(1, 2))
const forks = Number(process.env.DIGEST_FORKS ?? rounds(4, 8))
const LIB_LAG_BLOCKS = 12
const SEALED_BLOCKS = 50
const tools = ['bash', 'psql', 'pg_dump', 'pg_restore'].every((name) => findProgram(name) !== undefined)
const isOn14 = process.env.PRONGHORN_TEST_POSTGRES === undefined

let running: TestChain
let newer: EmbeddedPostgres
let folder: string
const databases: TestDatabase[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pronghorn-roads-'))
  newer = await startEmbeddedPostgres(newerServer)
  running = await startChain({
    recordings: ['main'],
    libLagBlocks: LIB_LAG_BLOCKS,
    blocks: LIB_LAG_BLOCKS,
    rate: 6,
    seed: 12,
  })
})

afterAll(async () => {
  await running.chain.stop()
  await newer.stop()
  await Promise.all(databases.map((database) => database.drop()))
  await rm(folder, { recursive: true, force: true })
})

async function create(template?: string): Promise<DatabaseAddress> {
  const database = await createTestDatabase(template)
  databases.push(database)
  return database.address
}

/** Creates a database on PostgreSQL 18; an empty one unless `isMigrated`. */
async function createNewer(name: string, isMigrated: boolean): Promise<DatabaseAddress> {
  const { host, port, user, password } = newer
  const maintenance = { host, port, user, password, database: 'postgres' }
  const admin = await connectDatabase(maintenance, { applicationName: 'test' })
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  await admin.end()
  const address = { ...maintenance, database: name }
  if (!isMigrated) return address
  const client = await connectDatabase(address, { applicationName: 'test' })
  await migrate(client)
  await client.end()
  return address
}

/** Indexes the chain while it forks, and stops at the head. Returns the number of rolled-back forks. */
async function followForks(address: DatabaseAddress): Promise<number> {
  const random = createRandom(50)
  const ending = new AbortController()
  let undone = 0
  let failure: unknown
  const reading = indexUntil(running, address, 0, {
    signal: ending.signal,
    settings: { seal_history: true },
    options: {
      onStatus: (status) => (undone = status.forks),
      sealing: { rangeBlocks: SEALED_BLOCKS, share: 1, idleMs: 50 },
      buildQueryIndexes: false,
    },
  })
  reading.catch((error: unknown) => (failure = error))
  const watch = await PositionWatch.open(address, testSettings.name)
  const client = await connectDatabase(address, { applicationName: 'test' })
  const atHead = () =>
    watch.until(
      (at) => at?.id === running.chain.head().id,
      () => failure !== undefined,
    )
  for (let fork = 0; fork < forks; fork++) {
    running.chain.generate(random.between(0, 2))
    await atHead()
    const depth = random.between(1, LIB_LAG_BLOCKS - 2)
    running.chain.fork(depth, depth + random.between(0, 2))
    if (fork % 4 === 3)
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pronghorn sealer%'",
      )
  }
  await atHead()
  await client.end()
  await watch.close()
  ending.abort()
  await reading
  return undone
}

/**
 * Reads the seals of a database with two readers, without `reason`. It states why the ABIs, which both readers share,
 * were sealed again.
 */
async function sealsOfTwo(address: DatabaseAddress): Promise<KindSeals[]> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    return (await readSeals(client)).map((kind) => ({ ...kind, reason: null }))
  } finally {
    await client.end()
  }
}

/** Indexes the chain with several processes. All but the last process are killed; the last one finishes. */
async function indexWithKills(address: DatabaseAddress, until: number): Promise<number> {
  const random = createRandom(20)
  const home = await createFillerHome(running, address, {
    stop_block: until,
    db_group_blocks: 1,
    ship_prefetch_blocks: 4,
  })
  const watch = await PositionWatch.open(address, testSettings.name)
  let killed = 0
  try {
    while (killed < kills) {
      const from = (await watch.read())?.num ?? 0
      const goal = from + random.between(0, Math.floor((until - from) / (kills - killed + 1)))
      const filler = home.start()
      await watch.until((at) => (at?.num ?? 0) >= goal, filler.hasEnded)
      if (!(await filler.kill())) break
      killed++
    }
    const filler = home.start()
    expect(await filler.ended, filler.output()).toEqual({ code: 0, signal: null })
    return killed
  } finally {
    await watch.close()
    await home.remove()
  }
}

async function countSeals(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM chain.seals')
  return rows[0]!.count
}

/** Seals an indexed database. Fillers are killed while they seal; the last filler finishes. */
async function sealWithKills(address: DatabaseAddress, until: number, seals: number): Promise<number> {
  const random = createRandom(30)
  const home = await createFillerHome(running, address, { stop_block: until, seal_history: true })
  const client = await connectDatabase(address, { applicationName: 'test' })
  let killed = 0
  try {
    // The range size of seals is not a setting. A kind of row that is already in `chain.sealed` keeps its range size,
    // so insert all kinds.
    await client.query(
      `INSERT INTO chain.sealed (kind, reader, range_blocks, sealed_to, next_position)
       SELECT kind, $2, $3, -1, -9223372036854775808 FROM unnest($1::text[]) kind`,
      [sealedKinds.map(({ name }) => name), testSettings.name, SEALED_BLOCKS],
    )
    while (killed < kills) {
      const from = await countSeals(client)
      const goal = from + random.between(1, Math.floor((seals - from) / (kills - killed + 1)))
      const filler = home.start()
      while ((await countSeals(client)) < goal && !filler.hasEnded()) await delay(2)
      if (!(await filler.kill())) break
      expect(await countSeals(client)).toBeLessThan(seals)
      killed++
    }
    const filler = home.start()
    expect(await filler.ended, filler.output()).toEqual({ code: 0, signal: null })
    return killed
  } finally {
    await client.end()
    await home.remove()
  }
}

async function runScript(script: string, address: DatabaseAddress): Promise<void> {
  await writeFile(join(folder, 'password'), address.password)
  const { host, port, user, database } = address
  await promisify(execFile)('bash', [join(packageRoot, 'infra/postgres', script), 'roads'], {
    env: {
      ...process.env,
      PASSWORD_FILE: join(folder, 'password'),
      BACKUPS_FOLDER: folder,
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: user,
      PGDATABASE: database,
    },
  })
}

it(
  'the digest and seals of a database do not depend on how its blocks were indexed, on PostgreSQL 14 and 18',
  async () => {
    const digests: Record<string, string> = {}
    const seals: Record<string, readonly KindSeals[]> = {}
    const note = async (road: string, address: DatabaseAddress) => {
      digests[road] = (await digestOf(address)).digest
      seals[road] = await sealDatabase(address, testSettings.name, SEALED_BLOCKS)
    }
    const sealing = {
      settings: { seal_history: true },
      options: { sealing: { rangeBlocks: SEALED_BLOCKS, share: 1, idleMs: 50 } },
    }
    const forked = await create()
    expect(await followForks(forked)).toBeGreaterThanOrEqual(forks)
    await note(`${forks} forks`, forked)
    const until = running.chain.head().num
    const straight = await create()
    await indexUntil(running, straight, until, sealing)
    const client = await connectDatabase(straight, { applicationName: 'test' })
    const sealedAtEnd = await readSeals(client)
    await client.end()
    await note('straight', straight)
    expect(sealedAtEnd, 'a reader that ends at its stop_block has sealed').toEqual(seals.straight)
    const unsealed = await create()
    await indexUntil(running, unsealed, until)
    const atOnce = await create(unsealed.database)
    await sealDatabase(atOnce, testSettings.name, SEALED_BLOCKS, sealAtOnce)
    await note('sealed in one pass', atOnce)
    const mirrors = [0, 1, 2].map(() => new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS }))
    for (const mirror of mirrors) await mirror.start()
    const ship = mirrors.map(({ url }) => url)
    const fromThree = await create()
    const chain = { chainId: running.chain.chainId, http: running.httpUrl, ship }
    await indexUntil(running, fromThree, until, { ...sealing, options: { ...sealing.options, chain } })
    await Promise.all(mirrors.map((mirror) => mirror.stop()))
    await note('three nodes', fromThree)
    const byTwo = await create()
    for (const [name, isTools] of [
      ['one', false],
      ['two', true],
    ] as const) {
      const contracts = testSettings.contracts.filter(({ handler }) => (handler === 'tools') === isTools)
      await indexUntil(running, byTwo, until, {
        settings: { ...sealing.settings, name, contracts },
        options: sealing.options,
      })
    }
    const sealedByTwo = await sealsOfTwo(byTwo)
    for (const batch of [1, 500]) {
      const address = await create()
      await indexUntil(running, address, until, { settings: { db_group_blocks: batch } })
      await note(`batches of ${batch}`, address)
    }
    const killed = await create()
    expect(await indexWithKills(killed, until)).toBe(kills)
    await note(`${kills} kills`, killed)
    const killedSealing = await create(unsealed.database)
    const count = sealedAtEnd.reduce((sum, kind) => sum + kind.seals.length, 0)
    expect(await sealWithKills(killedSealing, until, count)).toBe(kills)
    await note(`${kills} kills of the sealer`, killedSealing)
    const on18 = await createNewer('straight', true)
    await indexUntil(running, on18, until)
    await note('straight on 18', on18)
    if (tools && isOn14) {
      await runScript('backup.sh', straight)
      const restored = await create('template0')
      await runScript('restore.sh', restored)
      await note('restored', restored)
      const restoredOn18 = await createNewer('restored', false)
      await runScript('restore.sh', restoredOn18)
      await note('restored on 18', restoredOn18)
    }
    if (process.env.TEST_LOG !== undefined)
      process.stderr.write(`block ${until} ${JSON.stringify(digests, null, 1)}\n`)
    expect(new Set(Object.values(digests)).size, JSON.stringify(digests)).toBe(1)
    for (const [road, found] of Object.entries(seals)) expect(found, road).toEqual(seals.straight)
    expect(sealedByTwo, 'two readers').toEqual(seals.straight)
    expect(seals.straight!.filter((kind) => kind.seals.length > 0).length).toBeGreaterThan(10)
  },
  patient(900_000),
)
