import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { buildQueryIndexes, connectDatabase, listIndexFamilies } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { modelTables } from '../../services/core/model/tables/index.ts'
import { checkSeals, readSeals, sealedKinds } from '../../services/core/seals/index.ts'
import { publish, restore } from '../../services/dump/index.ts'
import type { PublishOptions, RestoreOptions } from '../../services/dump/index.ts'
import { unpackContent } from '../../services/dump/format/compression.ts'
import { formatManifest } from '../../services/dump/format/manifest.ts'
import type { Manifest } from '../../services/dump/format/manifest.ts'
import { readPublishedTables } from '../../services/dump/publish/published-tables.ts'
import { compareDigests } from '../../services/verify/index.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { PositionWatch } from '../integration/position.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { sealDatabase } from '../setup/seals.ts'
import { broadChain } from '../verify/verify-of.ts'
import { createSource } from './source-database.ts'

const SEALED_BLOCKS = 50

let running: TestChain
let folder: string
let source: DatabaseAddress
let keys: { readonly private: string; readonly public: string; readonly other: string }
const databases: TestDatabase[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pronghorn-dumps-'))
  running = await startChain({ ...broadChain.chain, libLagBlocks: 12 })
  source = await kept(createSource(running))
  await sealDatabase(source, testSettings.name, SEALED_BLOCKS)
  keys = await writeKeys()
  await publishInto('whole', { keyFile: keys.private })
})

afterAll(async () => {
  await running.chain.stop()
  await Promise.all(databases.map((database) => database.drop()))
  await rm(folder, { recursive: true, force: true })
})

async function kept(created: Promise<TestDatabase>): Promise<DatabaseAddress> {
  const database = await created
  databases.push(database)
  return database.address
}

const create = (template = 'template0') => kept(createTestDatabase(template))

const indexTo = (address: DatabaseAddress, block: number) =>
  indexUntil(running, address, block, { settings: broadChain.settings })

async function writeKeys() {
  const write = async (name: string, pem: string | Buffer) => {
    await writeFile(join(folder, name), pem)
    return join(folder, name)
  }
  const pair = () =>
    generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
  const [own, other] = [pair(), pair()]
  return {
    private: await write('private.pem', own.privateKey),
    public: await write('public.pem', own.publicKey),
    other: await write('other.pem', other.publicKey),
  }
}

const publishInto = (name: string, more: Partial<PublishOptions> = {}) =>
  publish({
    ...{ database: source, folder: join(folder, name), jobs: 2, prune: false },
    signal: new AbortController().signal,
    ...more,
  })

const restoreFrom = (database: DatabaseAddress, from: string, more: Partial<RestoreOptions> = {}) =>
  restore({
    ...{ database, chainId: running.chain.chainId, from, jobs: 2, anew: false },
    signal: new AbortController().signal,
    ...more,
  })

/** Definitions of all indexes and constraints of tables that are not partitions. */
async function definitionsOf(address: DatabaseAddress): Promise<string[]> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    const { rows } = await client.query<{ text: string }>(
      `SELECT pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid AS text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_' AND NOT c.relispartition
       UNION ALL SELECT k.conrelid::regclass || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid) FROM pg_constraint k
         JOIN pg_class c ON c.oid = k.conrelid WHERE k.connamespace::regnamespace::text !~ '^pg_|^information' AND NOT c.relispartition
       ORDER BY 1`,
    )
    return rows.map(({ text }) => text)
  } finally {
    await client.end()
  }
}

async function sealsOf(address: DatabaseAddress) {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    const { changed } = await checkSeals(client)
    expect(changed).toEqual([])
    return await readSeals(client)
  } finally {
    await client.end()
  }
}

const wholeManifest = async (name = 'whole') =>
  JSON.parse(await readFile(join(folder, name, 'manifest.json'), 'utf8')) as Manifest

it('a restored database has the rows, seals and indexes of the published database, and continues with the chain', async () => {
  const kinds = new Set(
    (await wholeManifest()).tables.flatMap(({ files }) => files.flatMap(({ sealed }) => sealed?.kind ?? [])),
  )
  expect(kinds.size).toBe(sealedKinds.length - 1)
  const restored = await create()
  const report = await restoreFrom(restored, join(folder, 'whole'))
  expect(report).toMatchObject({ resumedFiles: 0, migrations: [] })
  expect(compareDigests(await digestOf(source), await digestOf(restored))).toEqual([])
  expect(await sealsOf(restored)).toEqual(await sealsOf(source))
  const client = await connectDatabase(source, { applicationName: 'test' })
  for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
  await client.end()
  expect(await definitionsOf(restored)).toEqual(await definitionsOf(source))

  const head = running.chain.head().num
  for (const address of [source, restored]) await indexTo(address, head)
  expect(compareDigests(await digestOf(source), await digestOf(restored))).toEqual([])
})

it('a dump contains all tables of the model, all undo tables, and no other table except a fixed list', async () => {
  const client = await connectDatabase(source, { applicationName: 'test' })
  const names = (await readPublishedTables(client)).map(({ name }) => name)
  await client.end()
  const ofModel = modelTables.map(({ name }) => name)
  // Tables of the installation must not be published: add a new table to this list, or exclude it from the dump.
  expect(names.filter((name) => !ofModel.includes(name) && !name.startsWith('undo.'))).toEqual([
    ...['assets.log_actions', 'chain.gaps', 'chain.imports', 'chain.readers', 'chain.reversible_blocks'],
    ...['chain.sealed', 'chain.seals', 'chain.sources', 'market.log_actions', 'state.past_links'],
    ...['state.past_permissions', 'state.past_rows', 'tools.log_actions'],
  ])
  expect(ofModel.filter((name) => !names.includes(name))).toEqual([])
})

it('a second publication of a dump adds files and changes none; --prune deletes neither foreign files nor files of the previous publication', async () => {
  const first = await publishInto('grown')
  const foreign = ['notes.txt', 'copy.partial', 'files/mine.copy.gz', 'files/assets.assets/old.copy.gz']
  for (const name of foreign) await writeFile(join(folder, 'grown', name), 'of the operator')
  const before = await readFiles('grown')
  const again = await publishInto('grown')
  expect(again.newFiles).toBe(1)
  const client = await connectDatabase(source, { applicationName: 'test' })
  await client.query("UPDATE assets.config SET version = version || ' '")
  await client.end()
  const third = await publishInto('grown', { prune: true })
  expect(third.newFiles).toBe(2)
  expect(third.pruned).toBe(0)
  const after = await readFiles('grown')
  for (const [name, bytes] of before)
    if (name !== 'manifest.json') expect(after.get(name)?.equals(bytes), name).toBe(true)
  expect((await publishInto('grown', { prune: true })).pruned).toBe(1)
  const pruned = await readFiles('grown')
  for (const name of foreign) expect(pruned.get(name)?.toString(), name).toBe('of the operator')
  expect(first.newFiles).toBe(first.files + 1)
})

it('after a restore of a dump that was published during a fork, the reader leaves the lost branch', async () => {
  const { chain } = running
  const forked = await kept(createSource(running))
  const ending = new AbortController()
  const reading = indexUntil(running, forked, 0, {
    signal: ending.signal,
    settings: { ...broadChain.settings, seal_history: true },
    options: { sealing: { rangeBlocks: SEALED_BLOCKS, share: 1, idleMs: 50 } },
  })
  reading.catch(() => undefined)
  const watch = await PositionWatch.open(forked, testSettings.name)
  const reachHead = () => watch.until((at) => at?.id === chain.head().id)
  await reachHead()
  const progress = new EventEmitter()
  const begun = once(progress, 'begun')
  let isPublished = false
  const publishing = publishInto('forked', {
    ...{ database: forked, share: 0.4 },
    onProgress: () => progress.emit('begun'),
  }).finally(() => (isPublished = true))
  publishing.catch(() => undefined)
  await Promise.race([begun, publishing])
  const random = createRandom(5)
  let forks = 0
  for (; !isPublished; forks++) {
    const depth = random.between(1, 10)
    chain.fork(depth, depth + random.between(0, 2))
    await reachHead()
  }
  expect(forks).toBeGreaterThan(1)
  await watch.close()
  ending.abort()
  await reading
  const { block_num: block, block_id: id } = (await publishing).manifest.readers[0]!
  expect(chain.block(block)!.id.toString('hex')).not.toBe(id)
  const restored = await create()
  await restoreFrom(restored, join(folder, 'forked'))
  chain.generate(SEALED_BLOCKS)
  for (const address of [forked, restored]) {
    await indexTo(address, chain.head().num)
    await sealDatabase(address, testSettings.name, SEALED_BLOCKS)
  }
  expect(compareDigests(await digestOf(forked), await digestOf(restored))).toEqual([])
  expect(await sealsOf(restored)).toEqual(await sealsOf(forked))
})

it('a publication that checks the published files replaces damaged files', async () => {
  const { manifest } = await publishInto('damaged', { keyFile: keys.private })
  const files = manifest.tables.flatMap((table) => table.files)
  for (const { path } of [files.find(({ sealed }) => sealed)!, files.find(({ sealed }) => !sealed)!]) {
    const bytes = await readFile(join(folder, 'damaged', path))
    bytes[bytes.length >> 1]! ^= 1
    await writeFile(join(folder, 'damaged', path), bytes)
  }
  // The manifest, and the file of rows that are not sealed: every publication compares these files.
  expect(await publishInto('damaged')).toMatchObject({ newFiles: 2, isSignatureDropped: true })
  expect(await publishInto('damaged', { check: true })).toMatchObject({
    ...{ newFiles: 2, isSignatureDropped: false },
  })
  await restoreFrom(await create(), join(folder, 'damaged'))
})

it('two concurrent publications of dumps run one after the other', async () => {
  const both = await Promise.all([publishInto('both'), publishInto('both')])
  const [first, second] = both.sort((one, other) => other.newFiles - one.newFiles)
  expect([first.newFiles, second.newFiles]).toEqual([first.files + 1, 1])
})

it('a dump does not contain the address of the source of an import', async () => {
  const client = await connectDatabase(source, { applicationName: 'test' })
  await client.query(
    `INSERT INTO chain.imports (reader, kind, source, fingerprint, block_num, block_time, block_id, finished_at)
     VALUES ('other', 'state', 'http://10.0.0.7:8080', 'f', 7, 0, '', now())`,
  )
  const { manifest } = await publishInto('imported')
  await client.query('DELETE FROM chain.imports')
  await client.end()
  const { path, content_bytes: bytes } = manifest.tables.find(({ name }) => name === 'chain.imports')!
    .files[0]!
  const rows = (await unpackContent(path, await readFile(join(folder, 'imported', path)), bytes)).toString()
  expect(rows).toContain('\tother\t')
  expect(rows).not.toContain('10.0.0.7')
})

async function readFiles(name: string): Promise<Map<string, Buffer>> {
  const root = join(folder, name)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(
      files.map(async (path) => [path.slice(root.length + 1), await readFile(path)] as const),
    ),
  )
}

it('a restore with a public key refuses a dump without a signature or with the signature of another key', async () => {
  await publishInto('unsigned')
  const refused = await create()
  await expect(restoreFrom(refused, join(folder, 'unsigned'), { keyFile: keys.public })).rejects.toThrow(
    /not signed/,
  )
  await expect(restoreFrom(refused, join(folder, 'whole'), { keyFile: keys.other })).rejects.toMatchObject({
    code: 'DUMP_UNTRUSTED',
  })
  await restoreFrom(refused, join(folder, 'whole'), { keyFile: keys.public })
})

it('a restore refuses a database with data, with foreign schemas, or in use, and changes nothing', async () => {
  const filled = await create('pronghorn_template')
  const client = await connectDatabase(filled, { applicationName: 'a service' })
  await expect(restoreFrom(filled, join(folder, 'whole'))).rejects.toThrow(
    /1 connections use the database: a service/,
  )
  await client.query(
    "INSERT INTO chain.readers (name, start_block, block_num, block_time, block_id) VALUES ('r', 1, 7, 0, '')",
  )
  await client.end()
  await expect(restoreFrom(filled, join(folder, 'whole'))).rejects.toThrow(/holds reader r at block 7/)
  const abandoned = await create('pronghorn_template')
  const writer = await connectDatabase(abandoned, { applicationName: 'test' })
  await writer.query("INSERT INTO assets.accounts (account, assets) SELECT 'alice', 1")
  await writer.end()
  await expect(restoreFrom(abandoned, join(folder, 'whole'))).rejects.toThrow(/has rows in assets\.accounts/)
  const latin = await create()
  const admin = await connectDatabase({ ...latin, database: 'postgres' }, { applicationName: 'test' })
  await admin.query(`DROP DATABASE ${latin.database}`)
  await admin.query(
    `CREATE DATABASE ${latin.database} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`,
  )
  await admin.end()
  await expect(restoreFrom(latin, join(folder, 'whole'))).rejects.toMatchObject({
    code: 'DATABASE_ENCODING',
  })
  const foreign = await create()
  const other = await connectDatabase(foreign, { applicationName: 'test' })
  await other.query('CREATE SCHEMA market; CREATE TABLE market."Our Prices" (id int)')
  await other.end()
  await expect(restoreFrom(foreign, join(folder, 'whole'))).rejects.toThrow(
    /a schema market that another program/,
  )
})

it('a restore accepts the relative path of a folder, and refuses FTP URLs, invalid URLs and named pipes', async () => {
  const database = await create()
  for (const address of ['ftp://127.0.0.1/dump', 'http://', 'https://user:50%@127.0.0.1/', ''])
    await expect(restoreFrom(database, address), address).rejects.toMatchObject({ code: 'USAGE' })
  const piped = await changeManifest('piped', () => undefined)
  const { path } = (await wholeManifest()).tables.find(({ files }) => files.length > 0)!.files[0]!
  await rm(join(piped, path))
  execFileSync('mkfifo', [join(piped, path)])
  await expect(restoreFrom(database, piped)).rejects.toThrow(`${path} is not a regular file`)
  const relativePath = relative(process.cwd(), join(folder, 'whole'))
  const { manifest } = await restoreFrom(database, relativePath, { anew: true })
  expect(manifest).toEqual(await wholeManifest())
})

it('a restore renames the reader to the configured name', async () => {
  const named = await create()
  const report = await restoreFrom(named, join(folder, 'whole'), { reader: 'here' })
  const client = await connectDatabase(named, { applicationName: 'test' })
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM chain.readers UNION SELECT reader FROM chain.sources UNION SELECT reader FROM chain.abis
     UNION SELECT reader FROM chain.reversible_blocks UNION SELECT reader FROM chain.sealed`,
  )
  await client.end()
  expect(rows).toEqual([{ name: 'here' }])
  expect(report.readers).toMatchObject([{ name: 'here' }])
  await expect(restoreFrom(named, join(folder, 'whole'), { reader: "a'; b" })).rejects.toMatchObject({
    code: 'USAGE',
  })
})

/** Writes a changed manifest next to the files of the dump. */
async function changeManifest(name: string, change: (manifest: Manifest) => unknown): Promise<string> {
  const copy = join(folder, name)
  await cp(join(folder, 'whole'), copy, { recursive: true })
  const manifest = await wholeManifest()
  change(manifest)
  await writeFile(join(copy, 'manifest.json'), formatManifest(manifest))
  return copy
}

it('a restore applies the missing migrations to a dump of an older version', async () => {
  const missing = [1115, 1116]
  const older = await changeManifest('older', (manifest) => {
    manifest.migrations = manifest.migrations.filter(({ number }) => !missing.includes(number))
  })
  const restored = await create()
  expect((await restoreFrom(restored, older)).migrations).toEqual(missing)
  const whole = await create()
  await restoreFrom(whole, join(folder, 'whole'))
  expect(await definitionsOf(restored)).toEqual(await definitionsOf(whole))
  expect(compareDigests(await digestOf(whole), await digestOf(restored))).toEqual([])
})

it('a restore refuses manifests with paths outside the folder, another version or chain, or a decompression bomb', async () => {
  const refused = await create()
  const [first] = (await wholeManifest()).tables.filter(({ files }) => files.length > 0)
  const file = first!.files[0]!
  const cases: [string, (manifest: Manifest) => unknown, RegExp][] = [
    [
      'path',
      (manifest) => (manifest.tables[0]!.files = [{ ...file, path: '../../etc/passwd' }]),
      /files\.0\.path/,
    ],
    ['format', (manifest) => Object.assign(manifest, { format: 2 }), /has format 2, this version reads 1/],
    [
      'newer',
      (manifest) => manifest.migrations.push({ number: 9999, name: 'later', checksum: '0'.repeat(64) }),
      /migration 9999 \(later\), which this version does not know/,
    ],
    ['chain', (manifest) => (manifest.chain_id = '1'.repeat(64)), /the dump is of chain 1{64}/],
    [
      'table',
      (manifest) => (manifest.tables[0]!.columns = ['a']),
      /the tables or columns of the dump do not match its migrations/,
    ],
    ['unknown', (manifest) => Object.assign(manifest, { more: 1 }), /manifest\.json: Unrecognized key/],
    [
      'escape',
      (manifest) => (manifest.program = '\x1b[2J'),
      /manifest\.json: program: has control characters/,
    ],
    [
      'repeated',
      ({ migrations }) => migrations.push(migrations[0]!),
      /manifest\.json names migration \d+ twice/,
    ],
    [
      'lacking',
      ({ tables }) => tables.find(({ name }) => name === 'assets.assets')!.files.pop(),
      /manifest\.json: assets\.assets has \d+ rows, but its files have \d+/,
    ],
    ['rows', (manifest) => (manifest.rows = '1'), /the dump has 1 rows, but its files have \d+/],
    ['bytes', (manifest) => (manifest.bytes = '1'), /the dump has 1 bytes, but its files have \d+/],
  ]
  for (const [name, change, message] of cases)
    await expect(restoreFrom(refused, await changeManifest(name, change)), name).rejects.toThrow(message)
  for (const [name, change, chainId] of [
    ['moved', ({ readers }: Manifest) => readers[0]!.block_num--, running.chain.chainId],
    ['renamed', (manifest: Manifest) => (manifest.chain_id = 'a'.repeat(64)), 'a'.repeat(64)],
  ] as const)
    await expect(
      restoreFrom(await create(), await changeManifest(name, change), { chainId }),
      name,
    ).rejects.toThrow(/the chain or the readers of the dump differ/)
  const bomb = await changeManifest('bomb', ({ tables }) => {
    for (const table of tables) table.files = table.files.map((each) => ({ ...each, content_bytes: 1 }))
  })
  await expect(restoreFrom(refused, bomb)).rejects.toThrow(/cannot be decompressed to 1 bytes/)
  const links = join(folder, 'links')
  await cp(join(folder, 'whole'), links, { recursive: true })
  await rm(join(links, 'files'), { recursive: true })
  await symlink(join(folder, 'whole/files'), join(links, 'files'))
  await expect(restoreFrom(await create(), links)).rejects.toThrow(/symbolic link/)
})
