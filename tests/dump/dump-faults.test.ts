import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { isMigrated } from '../../services/core/database/migrate.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { RetryableError } from '../../services/core/errors/index.ts'
import type { PronghornError } from '../../services/core/errors/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { checkSeals } from '../../services/core/seals/index.ts'
import { packContent, unpackContent } from '../../services/dump/format/compression.ts'
import { formatManifest, parseManifest } from '../../services/dump/format/manifest.ts'
import type { Manifest, ManifestFile } from '../../services/dump/format/manifest.ts'
import { publish, restore } from '../../services/dump/index.ts'
import { startApi } from '../../services/api/index.ts'
import { compareDigests } from '../../services/verify/index.ts'
import type { DatabaseDigest } from '../../services/verify/index.ts'
import { apiConfig } from '../api/server.ts'
import { DatabaseProxy } from '../integration/database-proxy.ts'
import { createFillerHome } from '../integration/filler-process.ts'
import type { FillerHome } from '../integration/filler-process.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { readNumber } from '../setup/read-number.ts'
import { rounds } from '../setup/rounds.ts'
import { sealDatabase } from '../setup/seals.ts'
import { seedsBeside } from '../setup/seeds.ts'
import { broadChain } from '../verify/verify-of.ts'
import { asIs, serveDump } from './dump-server.ts'
import type { DumpFault, DumpServer } from './dump-server.ts'
import { createSource } from './source-database.ts'

const SEALED_BLOCKS = 50
const logger = createLogger({ name: 'dump', level: 'silent' })
const KILLS = readNumber('RESTORE_KILLS', rounds(1, 2), 1, 10_000)
const seeds = seedsBeside(7)
/** Number of damaged downloads for each seed; all seeds together have RESTORE_DAMAGES. */
const DAMAGES = Math.ceil(readNumber('RESTORE_DAMAGES', rounds(2, 4), 1, 10_000) / seeds.length)

let running: TestChain
let folder: string
let server: DumpServer
let source: TestDatabase
let expected: DatabaseDigest
let manifest: Manifest

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pronghorn-dump-faults-'))
  running = await startChain({ ...broadChain.chain, libLagBlocks: 12 })
  source = await createSource(running)
  await indexUntil(running, source.address, running.chain.head().num, { settings: broadChain.settings })
  await sealDatabase(source.address, testSettings.name, SEALED_BLOCKS)
  const signal = new AbortController().signal
  const published = await publish({ database: source.address, folder, jobs: 2, prune: false, signal })
  manifest = published.manifest
  expected = await digestOf(source.address)
  server = await serveDump(folder)
})

afterAll(async () => {
  await server.stop()
  await running.chain.stop()
  await source.drop()
  await rm(folder, { recursive: true, force: true })
})

const restoreFrom = (database: DatabaseAddress, anew = false) =>
  restore({
    ...{ database, chainId: running.chain.chainId, from: server.url, jobs: 2, anew },
    signal: new AbortController().signal,
  })

async function isServed(address: DatabaseAddress): Promise<boolean> {
  const client = await connectDatabase(address, { applicationName: 'test', isOfRestore: true })
  try {
    return await isMigrated(client)
  } catch (error) {
    expect(error).toMatchObject({ code: 'RESTORE_UNFINISHED' })
    return false
  } finally {
    await client.end()
  }
}

async function expectWhole(address: DatabaseAddress): Promise<void> {
  expect(await isServed(address)).toBe(true)
  expect(compareDigests(expected, await digestOf(address))).toEqual([])
  const client = await connectDatabase(address, { applicationName: 'test' })
  expect((await checkSeals(client)).changed).toEqual([])
  const { rows } = await client.query(
    `SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid
     WHERE n.nspname = 'restore' OR i.indisvalid = false`,
  )
  await client.end()
  expect(rows).toEqual([])
}

/** Withholds downloads after the first half of the files, until `release` is called. */
function holdHalf() {
  const half = manifest.tables.reduce((sum, { files }) => sum + files.length, 0) / 2
  const gate = new EventEmitter()
  let asked = 0
  const released = once(gate, 'released')
  server.fault = async (name, bytes) => {
    if (name.startsWith('files/') && ++asked > half) {
      gate.emit('held')
      await released
    }
    return { bytes }
  }
  return { held: once(gate, 'held'), release: () => gate.emit('released') }
}

const listPaths = ['assets?limit=100', 'transfers?limit=100', 'collections', 'templates']

/** Answers of an API to list requests; null for a refused request. */
async function askLists(url: string): Promise<(string | null)[]> {
  return Promise.all(
    listPaths.map(async (path) => {
      const answer = await fetch(`${url}/assets/v1/${path}`)
      const { data } = (await answer.json()) as { data?: unknown }
      return answer.status === 200 ? JSON.stringify(data) : null
    }),
  )
}

async function listsOf(address: DatabaseAddress): Promise<(string | null)[]> {
  const api = await startApi({ config: apiConfig(address), logger })
  try {
    return await askLists(api.url)
  } finally {
    await api.close()
  }
}

it('until a restore is complete, no service starts, and a running API does not answer', async () => {
  const whole = await listsOf(source.address)
  const database = await createTestDatabase()
  const proxy = new DatabaseProxy(database.address)
  await proxy.open()
  const api = await startApi({ config: apiConfig(proxy.address), logger })
  const home = await createFillerHome(running, proxy.address)
  try {
    expect(await askLists(api.url)).toEqual(listPaths.map(() => '[]'))
    await expect(restoreFrom(database.address)).rejects.toMatchObject({ code: 'RESTORE_TARGET_FILLED' })
    await proxy.close()
    const { held, release } = holdHalf()
    const restored = restoreFrom(database.address)
    await held
    await proxy.open()
    const filler = home.start()
    const untilMs = performance.now() + 4_000
    while (performance.now() < untilMs) {
      expect(await askLists(api.url)).toEqual(listPaths.map(() => null))
      await delay(100)
    }
    expect((await fetch(`${api.url}/health`)).status).toBe(503)
    await expect(startApi({ config: apiConfig(proxy.address), logger, waitMs: 100 })).rejects.toMatchObject({
      code: 'RESTORE_UNFINISHED',
    })
    await expect.poll(() => filler.output(), { timeout: patient(20_000) }).toContain('RESTORE_UNFINISHED')
    await filler.kill()
    release()
    await restored
    await expect.poll(() => askLists(api.url), { timeout: patient(20_000) }).toEqual(whole)
    await expectWhole(database.address)
  } finally {
    server.fault = asIs
    await home.remove()
    await api.close()
    await proxy.close()
    await database.drop()
  }
})

/** A fault of the dump server. `codes` are the allowed errors of the restore; if empty, it must complete. */
interface Damage {
  readonly name: string
  readonly codes: readonly string[]
  readonly fault: DumpFault
}

type Random = ReturnType<typeof createRandom>

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/**
 * Serves a changed manifest, and optionally changed content for one file. The sums of the manifest follow the change, so
 * that only a later check can find the change.
 */
function withManifest(change: (changed: Manifest) => void, path?: string, content?: Buffer): DumpFault {
  return (name, bytes) => {
    if (name === path) return { bytes: content! }
    if (name !== 'manifest.json') return { bytes }
    const changed = parseManifest(bytes)
    change(changed)
    const sum = (of: readonly number[]) => String(of.reduce((total, each) => total + each, 0))
    for (const table of changed.tables) table.rows = sum(table.files.map(({ rows }) => rows))
    const files = changed.tables.flatMap((table) => table.files)
    changed.rows = sum(files.map(({ rows }) => rows))
    changed.bytes = sum(files.map(({ bytes: size }) => size))
    return { bytes: formatManifest(changed) }
  }
}

/** Replaces the rows of a file, and the checksums in the manifest accordingly. */
async function forge(file: ManifestFile, change: (text: Buffer) => Buffer): Promise<DumpFault> {
  const former = await readFile(join(folder, file.path))
  const content = change(await unpackContent(file.path, former, file.content_bytes))
  const packed = await packContent(content)
  const set = {
    ...{ bytes: packed.length, sha256: sha256(packed) },
    ...{ content_bytes: content.length, content_sha256: sha256(content) },
  }
  return withManifest(
    (changed) => {
      for (const table of changed.tables)
        table.files = table.files.map((each) => (each.path === file.path ? { ...each, ...set } : each))
    },
    file.path,
    packed,
  )
}

/** Replaces a digit of the last line. The line is still a valid row of the table. */
function changeDigit(text: Buffer): Buffer {
  const at = text.findLastIndex((byte) => byte >= 0x30 && byte <= 0x38)
  return Buffer.concat([text.subarray(0, at), Buffer.of(text[at]! + 1), text.subarray(at + 1)])
}

async function damage(random: Random, round: number): Promise<Damage> {
  const files = manifest.tables.flatMap((table) => table.files)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random.fraction() * of.length)]!
  const file = pick(files)
  const on = (path: string, fault: (bytes: Buffer) => ReturnType<DumpFault>): DumpFault => {
    return (name, bytes) => (name === path ? fault(bytes) : { bytes })
  }
  let cuts = 0
  const sealed = pick(files.filter((each) => each.sealed !== undefined))
  const kinds: readonly (() => Damage | Promise<Damage>)[] = [
    () => ({
      name: `two cuts of ${file.path}`,
      codes: [],
      fault: on(file.path, (bytes) => ({
        bytes,
        ...(++cuts > 2 ? {} : { cutAfter: Math.floor((random.fraction() * bytes.length) / 2) }),
      })),
    }),
    () => ({
      name: `a cut of ${file.path} after each twentieth of its bytes`,
      codes: [],
      fault: on(file.path, (bytes) => ({ bytes, cutAfter: Math.ceil(bytes.length / 20) })),
    }),
    () => {
      const at = Math.floor(random.fraction() * file.bytes)
      const flip = (bytes: Buffer) =>
        Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 4 : byte)))
      return {
        name: `a bit of ${file.path}`,
        codes: ['DUMP_DAMAGED'],
        fault: on(file.path, (bytes) => ({ bytes: flip(bytes) })),
      }
    },
    () => ({
      name: `${file.path} shortened`,
      codes: ['DUMP_DAMAGED'],
      fault: on(file.path, (bytes) => ({
        bytes: bytes.subarray(0, Math.floor(random.fraction() * bytes.length)),
      })),
    }),
    async () => {
      const other = await readFile(join(folder, pick(files.filter(({ path }) => path !== file.path)).path))
      return {
        name: `another file as ${file.path}`,
        codes: ['DUMP_DAMAGED'],
        fault: on(file.path, () => ({ bytes: other })),
      }
    },
    () => ({
      name: `${file.path} missing`,
      codes: ['DUMP_UNREACHABLE'],
      fault: on(file.path, (bytes) => ({ bytes, status: 404 })),
    }),
    () => ({
      name: 'a manifest of a later version',
      codes: ['DATABASE_TOO_NEW'],
      fault: withManifest(({ migrations }) => {
        migrations.push({ number: 9999, name: 'later', checksum: '0'.repeat(64) })
      }),
    }),
    async () => ({
      name: `forged rows in ${sealed.path}`,
      codes: ['DUMP_DAMAGED'],
      fault: await forge(sealed, changeDigit),
    }),
    async () => ({
      name: `a row fewer in ${sealed.path}`,
      codes: ['DUMP_DAMAGED'],
      fault: await forge(sealed, (text) => text.subarray(text.indexOf(10) + 1)),
    }),
    () => ({
      name: `a seal of ${sealed.path} that differs`,
      codes: ['DUMP_DAMAGED'],
      fault: withManifest((changed) => {
        for (const { files: all } of changed.tables)
          for (const each of all) if (each.path === sealed.path) each.sealed!.ranges[0]![2] = '1'.repeat(64)
      }),
    }),
    () => ({
      name: 'a redirect that never ends',
      codes: ['DUMP_UNREACHABLE'],
      fault: on(file.path, (bytes) => ({ bytes, status: 302, location: `/${file.path}` })),
    }),
    () => ({
      name: `endless bytes as ${file.path}`,
      codes: ['DUMP_DAMAGED'],
      fault: on(file.path, (bytes) => ({ bytes: Buffer.concat([bytes, Buffer.alloc(2 ** 22)]) })),
    }),
    () => ({
      name: 'files without sealed rows',
      codes: ['DUMP_DAMAGED'],
      fault: withManifest((changed) => {
        for (const table of changed.tables)
          table.files = table.files.filter(({ path }) => path !== sealed.path)
      }),
    }),
  ]
  return kinds[round % kinds.length]!()
}

describe.each(seeds)('restores with damaged downloads, seed %i', (seed) => {
  it(`${DAMAGES} restores with a damaged download complete, or are refused and complete at the next attempt, seed ${seed}`, async () => {
    const random = createRandom(seed)
    for (let round = 0; round < DAMAGES; round++) {
      const database = await createTestDatabase('template0')
      try {
        const { name, codes, fault } = await damage(random, round + seed)
        server.fault = fault
        const error = await restoreFrom(database.address).then(
          () => undefined,
          (reason: unknown) => reason as PronghornError,
        )
        const code = error?.code
        server.fault = asIs
        if (codes.length === 0) expect(code, name).toBeUndefined()
        else {
          expect(codes, name).toContain(code)
          // The command then exits with the code that means "start again".
          expect(error instanceof RetryableError, name).toBe(code === 'DUMP_UNREACHABLE')
          expect(await isServed(database.address), name).toBe(false)
          // The refused restore has stored the forged manifest, so the next restore must start from the beginning.
          await restoreFrom(database.address, /forged|fewer|seal|manifest|without/.test(name))
        }
        await expectWhole(database.address)
      } finally {
        server.fault = asIs
        await database.drop()
      }
    }
  })
})

it(`a restore that is killed ${KILLS} times at random points completes with an equal database`, async () => {
  const random = createRandom(11)
  let killed = 0
  while (killed < KILLS) {
    const database = await createTestDatabase('template0')
    const home = await createFillerHome(running, database.address)
    try {
      killed += await killUntilEnd(home, database.address, { random, most: KILLS - killed })
      await expectWhole(database.address)
    } finally {
      await home.remove()
      await database.drop()
    }
  }
})

/** A restore is killed after 800 ms and a random time of at most LIFE_MS. */
const LIFE_MS = readNumber('RESTORE_LIFE_MS', 5_000, 1, 600_000)
/** Number of times that the restore of one database is killed; the next run may complete. */
const KILLS_OF_DATABASE = 6

async function killUntilEnd(
  home: FillerHome,
  address: DatabaseAddress,
  { random, most }: { random: Random; most: number },
): Promise<number> {
  let kills = 0
  for (;;) {
    const process = home.start(['restore', server.url, '--jobs', '2'])
    if (kills < Math.min(most, KILLS_OF_DATABASE)) {
      await Promise.race([delay(800 + random.fraction() * LIFE_MS), process.ended])
      if (await process.kill()) {
        kills++
        // No service uses the database of a killed restore, unless the restore had already committed its last
        // transaction.
        if (await isServed(address)) return kills
        continue
      }
    }
    const { code } = await process.ended
    if (code !== 0) throw new Error(`the restore failed: ${process.output()}`)
    return kills
  }
}
