import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { checkSeals, checkSnapshot, readSeals, sealedKinds } from '../../services/core/seals/index.ts'
import type { KindSeals } from '../../services/core/seals/index.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import { testSettings } from '../integration/index-chain.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { findProgram } from '../setup/available.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { readNumber } from '../setup/read-number.ts'
import { sealDatabase } from '../setup/seals.ts'
import { roundsOfSeed, seedsBeside } from '../setup/seeds.ts'
import { broadChain } from '../verify/verify-of.ts'
import { affected, changesRows, damagesOf, sealedRows } from './damages.ts'

const SEED = 3
const SEALED_BLOCKS = 100
const DAMAGES = readNumber('SEAL_DAMAGES', roundsOfSeed(6, 100), 1, 10_000)
const hasPython = ['python3', 'psql'].every((name) => findProgram(name) !== undefined)

let database: TestDatabase
let client: pg.Client
let sealed: readonly KindSeals[]

/** Statements that write values with several text forms, or with escapes, into rows that are sealed. */
const oddRows = [
  String.raw`UPDATE assets.transfers SET memo = E'tab\tline\nreturn\rback\bform\fvertical\x0b \\ \\N \x01\x7f "quoted" \\. é 😀' WHERE transfer_id IN (SELECT transfer_id FROM assets.transfers ORDER BY 1 LIMIT 5)`,
  String.raw`UPDATE assets.transfers SET memo = '' WHERE transfer_id IN (SELECT transfer_id FROM assets.transfers ORDER BY 1 DESC LIMIT 5)`,
  String.raw`UPDATE assets.assets SET immutable_data = '{"b": 1.50, "a": 1e400, "é\n\u0001\\": ["\t\"", null, true, -0.0, 123456789012345678901234567890], "aa": {}}' WHERE burned_at_block IS NOT NULL`,
  String.raw`UPDATE assets.offers SET collection_names = ARRAY['a b', 'c,d', 'e"f', E'g\\h', 'NULL', '', E'i\tj\nk', '{}'] WHERE state = 3`,
  'UPDATE market.auctions SET collection_fee = 0.1::double precision + 0.2 WHERE claimed_by_seller AND claimed_by_buyer',
  'UPDATE market.sales SET collection_fee = 1e-300, intended_median = 1.500 WHERE state = 3',
  'UPDATE market.buyoffers SET collection_fee = 1e22 WHERE state = 3',
  String.raw`UPDATE assets.logs SET packed = '\x00ff5c0a0d' WHERE seq IN (SELECT seq FROM assets.logs ORDER BY 1 LIMIT 3)`,
]

beforeAll(async () => {
  database = await createIndexedDatabase(broadChain)
  client = await connectDatabase(database.address, { applicationName: 'seals' })
  for (const text of oddRows) expect((await client.query(text)).rowCount, text).toBeGreaterThan(0)
  sealed = await sealDatabase(database.address, testSettings.name, SEALED_BLOCKS)
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Seals that `examples/seals.py` computes. The script shares no code with Pronghorn. */
async function sealsOfExample(address: DatabaseAddress, to: number): Promise<string[]> {
  const script = join(packageRoot, 'examples/seals.py')
  const { stdout } = await promisify(execFile)(
    'python3',
    [script, '--range', String(SEALED_BLOCKS), String(to)],
    {
      env: {
        ...process.env,
        PGHOST: address.host,
        PGPORT: String(address.port),
        PGUSER: address.user,
        PGPASSWORD: address.password,
        PGDATABASE: address.database,
      },
      maxBuffer: 2 ** 26,
    },
  )
  return stdout.trim().split('\n')
}

const sealedTo = () => Math.min(...sealed.map((kind) => kind.sealedTo))

it('the test database has rows of every sealed kind, and all kinds are sealed up to the same block', () => {
  expect(sealed.map(({ kind }) => kind)).toEqual(sealedKinds.map(({ name }) => name))
  expect(new Set(sealed.map((kind) => kind.sealedTo)).size).toBe(1)
  expect(sealed.filter(({ seals }) => seals.length === 0).map(({ kind }) => kind)).toEqual([])
  expect(sealedTo()).toBeGreaterThan(SEALED_BLOCKS)
})

it.runIf(hasPython)(
  'the script in examples computes the seals that Pronghorn computes, whatever the output settings of the database',
  async () => {
    const name = database.address.database
    for (const setting of [
      'extra_float_digits = -5',
      "bytea_output = 'escape'",
      "DateStyle = 'German'",
      "TimeZone = 'Asia/Tokyo'",
    ])
      await client.query(`ALTER DATABASE ${name} SET ${setting}`)
    const ours = sealed.flatMap(({ kind, seals }) =>
      seals.map(
        ({ firstBlock, lastBlock, rows, digest }) => `${kind} ${firstBlock} ${lastBlock} ${rows} ${digest}`,
      ),
    )
    expect(await sealsOfExample(database.address, sealedTo())).toEqual(ours)
    const other = await connectDatabase(database.address, { applicationName: 'settings' })
    expect((await checkSeals(other)).changed).toEqual([])
    await other.end()
  },
  patient(60_000),
)

it('seals equal the test vector of docs/seals.md', async () => {
  const vectors = await createTestDatabase()
  const other = await connectDatabase(vectors.address, { applicationName: 'vectors' })
  await other.query(String.raw`
    SELECT chain.ensure_partition(t::regclass, 4001) FROM unnest(ARRAY['assets.blocks', 'assets.transfers']) t;
    INSERT INTO chain.readers VALUES ('one', 1, 20000, 0, '');
    INSERT INTO chain.reversible_blocks VALUES ('one', 20000, NULL, 0, '');
    INSERT INTO assets.blocks (first_seq, block_time, block_num, tx_offsets, txids) VALUES (4001, 600000, 1200, '{}', '');
    INSERT INTO assets.transfers (transfer_id, sender, recipient, collection_name, memo, asset_ids) VALUES
      (4001, 'alice', 'bob', 'silver', E'two\tparts\nC:\\temp', '{1099511627776,1099511627777}'),
      (4002, 'bob', 'carol', 'silver', '', '{1099511627778}')`)
  await other.end()
  const [transfers] = (await sealDatabase(vectors.address, 'one', 10_000)).filter(
    ({ kind }) => kind === 'assets.transfers',
  )
  await vectors.drop()
  expect(transfers).toMatchObject({ sealedTo: 19_999, seals: [{ firstBlock: 0, lastBlock: 9999, rows: 2n }] })
  expect(await readFile(join(packageRoot, 'docs/seals.md'), 'utf8')).toContain(
    `\`${transfers!.seals[0]!.digest}\``,
  )
})

it('unchanged rows match their seals; ranges can be selected by kind and block', async () => {
  const all = await checkSeals(client)
  expect(all).toMatchObject({ kinds: sealedKinds.length, changed: [] })
  expect(all.ranges).toBe(sealed.reduce((sum, { seals }) => sum + seals.length, 0))
  const some = await checkSeals(client, { kinds: ['assets.transfers'], from: 150, to: 250 })
  expect(some.ranges).toBeLessThanOrEqual(2)
  const [read] = await readSeals(client, { kinds: ['assets.transfers'], from: 150, to: 250 })
  expect(read!.seals.length).toBe(some.ranges)
})

it.each(seedsBeside(SEED))(
  'damaged rows of every kind are found by their seals (seed %i)',
  async (seed) => {
    const random = createRandom(seed)
    const damages = sealedKinds.flatMap(damagesOf)
    const skipped: string[] = []
    let found = 0
    for (let round = 0; found < DAMAGES && round < damages.length * 3; round++) {
      // Take the kinds of row in turn: a random choice among all damages would mostly hit the kinds with the most
      // columns.
      const kind = sealedKinds[round % sealedKinds.length]!
      const ofKind = damages.filter((damage) => damage.kind === kind)
      const { title, of, text } = ofKind[random.between(0, ofKind.length - 1)]!
      const rows = await sealedRows(client, kind, of, sealedTo())
      if (rows.length === 0) {
        skipped.push(`${kind.name}: ${title}`)
        continue
      }
      await client.query('BEGIN')
      const statement = text(
        rows[random.between(0, rows.length - 1)]!,
        rows[random.between(0, rows.length - 1)]!,
      )
      if (!(await changesRows(client, statement))) {
        // A swap of two equal values changes nothing: skip this damage.
        await client.query('ROLLBACK')
        continue
      }
      const { changed } = await checkSnapshot(client)
      await client.query('ROLLBACK')
      const kinds = new Set(changed.map((range) => range.kind))
      expect([...kinds], `${title}: ${statement}`).toContain(kind.name)
      expect(
        [...kinds].filter((name) => name !== kind.name && !affected(kind).includes(name)),
        statement,
      ).toEqual([])
      found++
    }
    expect(found, skipped.join('\n')).toBe(DAMAGES)
  },
  patient(120_000),
)
