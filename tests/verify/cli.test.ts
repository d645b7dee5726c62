import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../services/cli/program.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { readTasks } from '../../services/core/upkeep/index.ts'
import type { Task } from '../../services/core/upkeep/index.ts'
import { DEMO_CHAIN_ID } from '../../services/core/chain-node/index.ts'
import { expectedDecoder } from '../decode/abieos.ts'
import { testSettings } from '../integration/index-chain.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { sealDatabase } from '../setup/seals.ts'

const fork = join(import.meta.dirname, '../fixtures/recordings/fork')

let database: TestDatabase
let config: string

beforeAll(async () => {
  // The recorded chain `fork` has rows of the assets contract only.
  const contracts = testSettings.contracts.filter(({ handler }) => handler === 'assets')
  database = await createIndexedDatabase({
    chain: { recordings: [fork], replay: 'history' },
    stopBlock: 403,
    settings: { contracts },
  })
  config = await mkdtemp(join(tmpdir(), 'pronghorn-verify-'))
  await configure(database)
})

/** Writes a configuration folder that connects to the database. */
async function configure({ address }: TestDatabase): Promise<void> {
  await writeFile(
    join(config, 'connections.config.json'),
    JSON.stringify({
      sqldb: address,
      kvstore: { host: '127.0.0.1', port: 1 },
      chain: { name: 'test', chain_id: DEMO_CHAIN_ID, http: 'http://127.0.0.1:9', ship: 'ws://127.0.0.1:9' },
    }),
  )
}

afterAll(async () => {
  await database.drop()
  await rm(config, { recursive: true, force: true })
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function run(...args: string[]): Promise<Ran> {
  let [out, err] = ['', '']
  const code = await runCli([...args, '--config', config], {
    env: {},
    isTerminal: false,
    out: (text) => (out += text),
    err: (text) => (err += text),
    signal: new AbortController().signal,
  })
  return { code, out, err }
}

async function change(text: string): Promise<void> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query(text)
  await client.end()
}

const folder = ['--folder', join(fork, 'tables')]

async function noted(): Promise<readonly Task[]> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  const tasks = await readTasks(client)
  await client.end()
  return tasks
}

it('pronghorn verify exits with 0 without differences, 1 with differences, and 75 if it could not finish', async () => {
  const clean = await run('verify', ...folder)
  expect(clean).toMatchObject({ code: 0, err: '' })
  expect(clean.out).toMatch(expectedDecoder())
  expect(clean.out).toMatch(/No differences: \d+ rows of \d+ tables/)

  const unreachable = await run('verify')
  expect(unreachable.code).toBe(75)
  expect(unreachable.err).toMatch(/^CHAIN_[A-Z_]+: [^]*`chain\.http`/)
  expect(unreachable.out).toMatch(/^NOT FINISHED after \d+ rows of \d+ tables in [\d.]+ s\.$/m)
  const refused = await run('verify', '--http', 'http://127.0.0.1:1')
  expect(refused.err).toMatch(/^CHAIN_[A-Z_]+: the chain node http:\/\/127\.0\.0\.1:1 [^]*`--http`/)
  const nothing = await run('verify', ...folder, '--collection', 'nope')
  expect(nothing).toMatchObject({
    code: 75,
    err: expect.stringContaining('has a row of collection nope') as string,
  })

  await change("UPDATE assets.config SET standard = 'something'")
  const differing = await run('verify', ...folder)
  expect(differing.code).toBe(1)
  expect(differing.out).toContain('standard: chain "atomicassets", database "something"')
  expect(differing.err).toContain('DATABASE_DIFFERS')
  const json = JSON.parse((await run('verify', ...folder, '--json')).out) as Record<string, unknown>
  expect(json).toMatchObject({
    clean: false,
    differences: [{ table: 'assets.config (tokenconfigs)', key: 'atomicassets', kind: 'differs' }],
  })
})

it('pronghorn verify shows a repair, and writes it only with --yes', async () => {
  const shown = await run('verify', ...folder, '--repair')
  expect(shown.code).toBe(1)
  expect(shown.out).toContain('repair would write 1 of the 1 rows that differ:')
  expect(shown.out).toContain('standard "something" -> "atomicassets"')
  expect((await run('verify', ...folder)).code).toBe(1)
  const written = await run('verify', ...folder, '--repair', '--yes')
  expect(written.out).toContain('repair wrote 1 of the 1 rows that differ:')
  expect(written.code).toBe(0)
  expect((await run('verify', ...folder)).code).toBe(0)
})

it('pronghorn verify stores its result for the metrics', async () => {
  await run('verify', ...folder)
  const [clean] = await noted()
  expect(clean).toMatchObject({ name: 'verify', failedAt: null, failure: null })
  expect(clean?.succeededAt).toBeInstanceOf(Date)

  await change("UPDATE assets.config SET standard = 'something'")
  await run('verify', ...folder, '--table', 'assets.config')
  const [differing] = await noted()
  expect(differing).toMatchObject({
    succeededAt: clean?.succeededAt,
    failure: '1 rows differ from the chain',
  })
  await run('verify', ...folder, '--table', 'assets.config')
  await run('verify', ...folder, '--table', 'assets.schemas')
  // A repeated failure keeps the time of the first one, and a comparison of only some tables does not clear the
  // failure.
  expect(await noted()).toEqual([differing])
  await run('verify', ...folder, '--repair', '--yes')
  expect(await noted()).toMatchObject([{ failedAt: null, failure: null }])
})

it('pronghorn verify refuses unknown tables, contradicting options and unreadable folders', async () => {
  for (const [args, said] of [
    [
      ['--table', 'assets.nothing'],
      'verify compares no table named assets.nothing; verify compares these tables: assets.config',
    ],
    [['--http', 'http://127.0.0.1:9'], 'use only one of --http, --state and --folder'],
    [['--yes'], '--yes needs --repair'],
  ] as const) {
    const { code, err } = await run('verify', ...folder, ...args)
    expect(code).toBe(2)
    expect(err).toContain(said)
  }
  const missing = await run('verify', '--folder', join(config, 'nowhere'))
  expect(missing.code).toBe(2)
  expect(missing.err).toContain('nowhere cannot be read')
  const none = await run('verify', '--state')
  expect(none.code).toBe(2)
  expect(none.err).toContain('the database has no contract rows')
  const partial = await run('verify', '--state', '--repair', '--table', 'assets.assets')
  expect(partial.code).toBe(2)
  expect(partial.err).toContain('--repair with --state compares the whole database')
})

it('pronghorn verify, digest and seals exit with 75 for a database without tables or of another version, and verify for a database without blocks', async () => {
  const empty = await createTestDatabase('template0')
  try {
    await configure(empty)
    for (const command of [['verify', ...folder], ['digest'], ['seals']])
      expect(await run(...command)).toMatchObject({
        code: 75,
        err: expect.stringContaining('DATABASE_TOO_OLD') as string,
      })
    await run('migrate')
    const migrated = await run('verify', ...folder)
    expect(migrated).toMatchObject({ code: 75, out: expect.stringContaining('INCOMPLETE') as string })
    expect(migrated.err).toContain(
      'the database has no block yet; no reader indexes the contracts of the requested tables',
    )
    expect((await run('verify', ...folder, '--repair', '--yes')).code).toBe(75)
    const client = await connectDatabase(empty.address, { applicationName: 'test' })
    await client.query(
      "INSERT INTO public.pronghorn_migrations (number, name, checksum) VALUES (9999, 'later', '')",
    )
    for (const options of [folder, [...folder, '--repair', '--yes'], ['--seals']])
      expect(await run('verify', ...options)).toMatchObject({
        code: 75,
        err: expect.stringMatching(/^DATABASE_TOO_NEW: the database has schema migration 9999/) as string,
      })
    for (const command of ['digest', 'seals'])
      expect(await run(command)).toMatchObject({
        code: 75,
        err: expect.stringContaining('DATABASE_TOO_NEW') as string,
      })
    await client.query('DELETE FROM public.pronghorn_migrations WHERE number IN (1005, 9999)')
    await client.end()
    expect((await run('verify', ...folder)).code).toBe(75)
  } finally {
    await configure(database)
    await empty.drop()
  }
})

it('pronghorn verify ends at once with 75 while the import of the database is unfinished', async () => {
  const begun = await createTestDatabase()
  try {
    await configure(begun)
    const client = await connectDatabase(begun.address, { applicationName: 'test' })
    await client.query(
      "INSERT INTO chain.imports (reader, kind, source, fingerprint, block_num, block_time, block_id) VALUES ('test-1', 'database', 'old', '', 7, 0, '')",
    )
    await client.end()
    for (const options of [[], folder, [...folder, '--repair', '--yes']])
      expect(await run('verify', ...options)).toMatchObject({
        code: 75,
        err: expect.stringMatching(
          /^IMPORT_UNFINISHED: the import of old for reader test-1 is unfinished\nRun the same/,
        ) as string,
      })
  } finally {
    await configure(database)
    await begun.drop()
  }
})

it('pronghorn verify and digest name the tables that were dropped', async () => {
  const damaged = await createTestDatabase()
  try {
    await configure(damaged)
    const client = await connectDatabase(damaged.address, { applicationName: 'test' })
    await client.query('DROP TABLE market.sales CASCADE; DROP TABLE undo.assets_offers')
    await client.end()
    const message =
      /^DATABASE_TABLE_MISSING: the database lacks market\.sales, undo\.assets_offers, .* were dropped\nRestore a backup/
    for (const options of [folder, [...folder, '--repair', '--yes'], ['--seals']])
      expect(await run('verify', ...options)).toMatchObject({
        code: 75,
        err: expect.stringMatching(message) as string,
      })
    expect(await run('digest')).toMatchObject({ code: 75, err: expect.stringMatching(message) as string })
  } finally {
    await configure(database)
    await damaged.drop()
  }
})

it('pronghorn verify, digest, seals and publish name the columns that were dropped or renamed', async () => {
  const damaged = await createTestDatabase()
  try {
    await configure(damaged)
    const client = await connectDatabase(damaged.address, { applicationName: 'test' })
    await client.query(
      'ALTER TABLE market.sales RENAME COLUMN listing_price TO asked_price; ALTER TABLE assets.logs DROP COLUMN data CASCADE',
    )
    await client.end()
    const message =
      /^DATABASE_COLUMN_MISSING: the database lacks assets\.logs\.data, market\.sales\.listing_price, .* were dropped or renamed\nGive a renamed column/
    for (const options of [folder, [...folder, '--repair', '--yes'], ['--seals']])
      expect(await run('verify', ...options)).toMatchObject({
        code: 75,
        err: expect.stringMatching(message) as string,
      })
    for (const [code, ...command] of [
      [75, 'digest'],
      [75, 'seals'],
      [1, 'publish', join(config, 'published')],
    ] as const)
      expect(await run(...command)).toMatchObject({ code, err: expect.stringMatching(message) as string })
  } finally {
    await configure(database)
    await damaged.drop()
  }
})

it('pronghorn verify exits with 75 if the source lacks the rows of a table, and a repair leaves that table unchanged', async () => {
  const part = join(config, 'tables')
  await cp(join(fork, 'tables'), part, { recursive: true })
  await rm(join(part, 'atomicassets.balances.json'))
  const unanswered = await run('verify', '--folder', part)
  expect(unanswered).toMatchObject({ code: 75, out: expect.stringContaining('INCOMPLETE') as string })
  expect(unanswered.err).toContain('the source cannot list the rows of assets.balances')
  expect(unanswered.out).toContain('not checked: 3 columns: the source cannot list the rows of the table')
  expect(JSON.parse((await run('verify', '--folder', part, '--json')).out)).toMatchObject({ clean: false })

  await change("UPDATE assets.config SET standard = 'something'")
  expect((await run('verify', '--folder', part)).code).toBe(1)
  const repaired = await run('verify', '--folder', part, '--repair', '--yes')
  expect(repaired).toMatchObject({
    code: 75,
    out: expect.stringContaining('wrote 1 of the 1 rows that differ:') as string,
  })
  expect((await run('verify', ...folder)).code).toBe(0)

  await change('UPDATE assets.accounts SET assets = assets + 1')
  const kept = await run('verify', '--folder', part, '--repair', '--yes')
  expect(kept).toMatchObject({ code: 1, out: expect.stringContaining('were not compared') as string })
  expect((await run('verify', ...folder, '--repair', '--yes')).code).toBe(0)

  // Asset attributes cannot be decoded without the schema rows, which contain the formats.
  await rm(join(part, 'atomicassets.schemas.json'))
  expect((await run('verify', '--folder', part)).err).toContain('assets.config, assets.config (tokenconfigs)')
})

it('pronghorn verify names a family that the configuration leaves out, and a family that no reader indexes', async () => {
  await change(
    'UPDATE chain.sources SET left_out_after = 400; UPDATE assets.accounts SET assets = assets + 1',
  )
  const leftOut = await run('verify', ...folder)
  expect(leftOut).toMatchObject({
    code: 75,
    out: expect.stringContaining('the configuration leaves assets out after block 400') as string,
    err: expect.stringContaining('no reader indexes the contracts of the requested tables') as string,
  })
  expect(leftOut.out).toContain('0 derived rules broken')
  await change(
    'UPDATE chain.sources SET left_out_after = NULL; UPDATE assets.accounts SET assets = assets - 1',
  )
  await change("INSERT INTO market.counters (counter_name, counter_value) VALUES ('sale', 1)")
  const orphaned = await run('verify', ...folder)
  expect(orphaned.code).toBe(75)
  expect(orphaned.err).toContain('the database has rows of market, but no reader indexes this family')
  await change('DELETE FROM market.counters')
  expect((await run('verify', ...folder)).code).toBe(0)
})

it('pronghorn digest prints digests as text and as JSON', async () => {
  const text = await run('digest')
  expect(text.code).toBe(0)
  expect(text.out).toMatch(/^assets\.assets +[0-9a-f]{32} +\d+ rows$/m)
  const json = JSON.parse((await run('digest', '--json', '--table', 'assets.offers')).out) as {
    readers: unknown
    tables: { name: string }[]
  }
  expect(json.tables.map(({ name }) => name)).toEqual(['assets.offers'])
  expect(json.readers).toMatchObject([{ name: 'test-1', block_num: 403 }])
  expect((await run('digest', '--table', 'assets.nothing')).code).toBe(2)
})

it('pronghorn seals prints seals, and pronghorn verify --seals finds rows that were changed after their sealing', async () => {
  const none = await run('seals')
  expect(none).toMatchObject({ code: 0, out: 'Not every kind of row is sealed yet.\n' })
  expect(await run('verify', '--seals')).toMatchObject({ code: 75, out: 'Nothing is sealed yet.\n' })

  await sealDatabase(database.address, testSettings.name, 100)
  const summary = await run('seals')
  expect(summary.out).toMatch(/^[0-9a-f]{64} {2}\d+ rows of \d+ kinds up to block 399\n$/)
  const detail = await run('seals', '--table', 'assets.logs', '--to', '399')
  expect(detail.out).toMatch(
    /^assets\.logs, sealed up to block 399\n( {2}\d+-\d+ +[0-9a-f]{64} +\d+ rows\n)+[0-9a-f]{64} /,
  )
  const json = JSON.parse((await run('seals', '--to', '99', '--json')).out) as { seals: { kind: string }[] }
  expect(json).toMatchObject({ sealed_to: 399 })
  expect(json.seals.map(({ kind }) => kind)).toContain('assets.mints')
  expect(await run('seals', '--table', 'assets.nothing')).toMatchObject({ code: 2 })

  const clean = await run('verify', '--seals')
  expect(clean).toMatchObject({ code: 0, err: '' })
  expect(clean.out).toMatch(/^0 of \d+ sealed ranges changed: \d+ rows of \d+ kinds\.\n$/)
  await change(
    "UPDATE assets.transfers SET memo = memo || '!' WHERE transfer_id = (SELECT min(transfer_id) FROM assets.transfers)",
  )
  const changed = await run('verify', '--seals')
  expect(changed.code).toBe(1)
  expect(changed.err).toContain('DATABASE_DIFFERS')
  expect(changed.out).toMatch(
    /^assets\.transfers blocks \d+ to \d+: changed after it was sealed with (\d+) rows; it has \1\n1 of /,
  )
  const report = JSON.parse((await run('verify', '--seals', '--json')).out) as unknown
  expect(report).toMatchObject({ clean: false, changed: [{ kind: 'assets.transfers' }] })
  expect(await run('verify', '--seals', '--state')).toMatchObject({ code: 2 })
  expect(await run('verify', '--from', '1')).toMatchObject({ code: 2 })
})
