import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type pg from 'pg'
import { runCli } from '../../services/cli/program.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { allMarketListings } from '../../services/core/model/tables/index.ts'
import { sealedKinds } from '../../services/core/seals/index.ts'
import { digestDatabase, repairDerived } from '../../services/verify/index.ts'
import { replayHistory } from '../../services/filler/replay/index.ts'
import type { ReplayedHistory, ReplayHistoryOptions } from '../../services/filler/replay/index.ts'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { compareSnapshot, remoteSource } from '../../services/core/seals/compare/index.ts'
import { checkSeals, checkSnapshot, readSeals } from '../../services/core/seals/index.ts'
import { apiConfig, quiet } from '../api/server.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { patient } from '../setup/patience.ts'
import { readNumber } from '../setup/read-number.ts'
import { sealDatabase } from '../setup/seals.ts'
import { seedsBeside } from '../setup/seeds.ts'
import { affected, changesRows, damagesOf, sealedRows } from './damages.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import { startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import type { TestDatabase } from '../setup/database.ts'
import { broadChain } from '../verify/verify-of.ts'

const SEED = 46
const SEALED_BLOCKS = 100
const seeds = seedsBeside(SEED)
/** Number of damages of each seed: all seeds together have HISTORY_DAMAGES. 100 damages take about ten minutes. */
const DAMAGES = Math.ceil(readNumber('HISTORY_DAMAGES', 6, 1, 10_000) / seeds.length)
const logger = createLogger({ name: 'history', level: 'silent', pretty: true })

let database: TestDatabase
let theirs: TestDatabase
let api: RunningApi
let client: pg.Client
let sealedTo: number
let running: TestChain

beforeAll(async () => {
  database = await createIndexedDatabase(broadChain)
  theirs = await createIndexedDatabase(broadChain)
  for (const { address } of [database, theirs]) {
    const sealed = await sealDatabase(address, testSettings.name, SEALED_BLOCKS)
    sealedTo = Math.min(...sealed.map((kind) => kind.sealedTo))
  }
  api = await startApi({ config: apiConfig(theirs.address), logger: quiet })
  client = await connectDatabase(database.address, { applicationName: 'history' })
  running = await startChain(broadChain.chain)
})

afterAll(async () => {
  await client.end()
  await api.close()
  await running.chain.stop()
  await Promise.all([database.drop(), theirs.drop()])
})

function replay(more: Partial<ReplayHistoryOptions> = {}): Promise<ReplayedHistory> {
  return replayHistory(client, {
    settings: { ...testSettings, ...broadChain.settings, ship_check_roots: running.hasRoots },
    chain: { chainId: running.chain.chainId, http: running.httpUrl, ship: [running.shipUrl] },
    logger,
    signal: new AbortController().signal,
    ranges: [{ firstBlock: 1, lastBlock: running.chain.head().num }],
    shipTiming: { backoffMinMs: 20, backoffMaxMs: 200 },
    ...more,
  })
}

/** Kinds of row that determine columns of listings and offers. */
const isAsset = (kind: string) => ['assets.mints', 'assets.burns', 'assets.templates'].includes(kind)
const isListing = (kind: string) => kind.startsWith('market.') || kind === 'assets.offers'

const noDifferences = { differences: [] as const }

it('a replay of the whole chain finds no difference in an undamaged database', async () => {
  const whole = await replay()
  expect(whole).toMatchObject(noDifferences)
  expect(Object.keys(whole.kinds)).toEqual(sealedKinds.map(({ name }) => name))
  for (const [kind, { rows, skipped }] of Object.entries(whole.kinds)) {
    expect(rows, kind).toBeGreaterThan(0)
    expect(skipped, kind).toBe(0)
  }
})

it('a replay of blocks 400 to 700 in windows of 50 kB finds no difference in an undamaged database', async () => {
  const parts = await replay({ ranges: [{ firstBlock: 400, lastBlock: 700 }], windowBytes: 50_000 })
  expect(parts).toMatchObject({ ...noDifferences, blocks: 301 })
  expect(parts.kinds['assets.transfers']!.rows).toBeGreaterThan(0)
  expect(parts.kinds['assets.burns']!.rows).toBeGreaterThan(0)
})

it.each(seeds)(
  'damaged rows of every kind are found by seals, by another node and by a replay of the chain (seed %i)',
  async (seed) => {
    const random = createRandom(seed)
    const damages = sealedKinds.flatMap(damagesOf)
    const source = remoteSource(api.url, running.chain.chainId, new AbortController().signal)
    let found = 0
    for (let round = 0; found < DAMAGES && round < DAMAGES * 10; round++) {
      const kind = sealedKinds[round % sealedKinds.length]!
      const ofKind = damages.filter((damage) => damage.kind === kind)
      const { title, of, text } = ofKind[random.between(0, ofKind.length - 1)]!
      const rows = await sealedRows(client, kind, of, sealedTo)
      if (rows.length === 0) continue
      const any = () => rows[random.between(0, rows.length - 1)]!
      const row = any()
      await client.query('BEGIN')
      try {
        const key = kind.order.map((sql) => `${sql}::text`).join(", ' ', ")
        const before = await client.query<{ key: string }>(
          `SELECT concat(${key}) AS key FROM ${kind.table} t WHERE ${row}`,
        )
        const statement = text(row, any())
        if (!(await changesRows(client, statement))) continue
        const bySeals = await checkSnapshot(client)
        const byNode = await compareSnapshot(client, source)
        const byChain = await replay()
        const where = `${kind.name}, ${title}: ${statement}`
        const names = (all: readonly { readonly kind: string }[]) => [
          ...new Set(all.map((each) => each.kind)),
        ]
        expect(names(bySeals.changed), where).toContain(kind.name)
        expect(names(byNode.rows), where).toContain(kind.name)
        const ofChain = byChain.differences.filter((difference) => difference.kind === kind.name)
        expect(ofChain.length, where).toBeGreaterThan(0)
        if (title !== 'row added')
          expect(
            ofChain.map((difference) => difference.key),
            where,
          ).toContain(before.rows[0]!.key)
        // Other differing rows are allowed only in kinds of row that are derived from the damaged kind.
        expect(
          names(byChain.differences).filter(
            (name) =>
              name !== kind.name &&
              !affected(kind).includes(name) &&
              !(isAsset(kind.name) && isListing(name)),
          ),
          where,
        ).toEqual([])
        found++
      } finally {
        await client.query('ROLLBACK')
      }
    }
    expect(found).toBe(DAMAGES)
  },
  patient(60_000 + DAMAGES * 15_000),
)

it('a repair replaces the rows that differ, and seals their ranges again', async () => {
  const before = await readSeals(client)
  const digest = async () => (await digestDatabase(client)).digest
  const whole = await digest()
  const damage = [
    'DELETE FROM assets.transfers WHERE transfer_id = (SELECT min(transfer_id) FROM assets.transfers)',
    'UPDATE assets.logs SET subject = subject + 1 WHERE seq = (SELECT min(seq) FROM assets.logs)',
    "UPDATE assets.offers SET memo = memo || '!' WHERE offer_id = (SELECT min(offer_id) FROM assets.offers WHERE state = 3)",
    'UPDATE assets.assets SET burned_by_account = NULL WHERE asset_id = (SELECT min(asset_id) FROM assets.assets WHERE burned_at_block < 400)',
    'DELETE FROM market.trades WHERE (kind, listing_id) = (SELECT kind, listing_id FROM market.trades WHERE kind = 1 ORDER BY listing_id LIMIT 1)',
    // Half of the ended listings of each type. Prices, mint numbers and trades are derived from the deleted rows.
    ...allMarketListings.map(
      ({ table, ended }) =>
        `DELETE FROM ${table.name} t WHERE t.${table.key[0]!} % 2 = 0 AND (${ended.map(({ scan = 'true', settled = 'true' }) => `${scan} AND ${settled}`).join(' OR ')})`,
    ),
    'INSERT INTO market.bids (seq, auction_id, amount, account) SELECT seq + 1, auction_id, amount, account FROM market.bids ORDER BY seq LIMIT 1',
    "UPDATE tools.links SET claimer = 'nobody' WHERE link_id = (SELECT min(link_id) FROM tools.links WHERE state = 3)",
  ]
  for (const text of damage) expect((await client.query(text)).rowCount, text).toBeGreaterThan(0)
  const kinds = [
    'assets.burns',
    'assets.logs',
    'assets.offers',
    'assets.transfers',
    'market.auctions',
    'market.bids',
    'market.buyoffers',
    'market.sales',
    'market.template_buyoffers',
    'market.trades',
    'tools.links',
  ]
  // Seal the damaged rows, as if the damage were older than the seals.
  await client.query('DELETE FROM chain.sealed')
  await sealDatabase(database.address, testSettings.name, SEALED_BLOCKS)
  await client.query('BEGIN')
  const repaired = await replay({ isRepair: true })
  // Names and indexed terms of listings are derived values: `repairDerived` recomputes them, the repair of history does
  // not.
  expect((await repairDerived(client, new Set())).refused).toEqual([])
  await client.query('COMMIT')
  expect([...new Set(repaired.differences.map(({ kind }) => kind))].toSorted()).toEqual(kinds)
  expect(repaired.differences.filter(({ impossible }) => impossible !== null)).toEqual([])
  expect(repaired.resealed).toBeGreaterThanOrEqual(kinds.length)
  expect((await replay()).differences).toEqual([])
  expect((await checkSeals(client)).changed).toEqual([])
  expect(await readSeals(client)).toEqual(before)
  expect(await digest()).toBe(whole)
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

it(
  'pronghorn verify --history exits with 0 without differences and with 1 with differences, and corrects rows with --repair',
  async () => {
    const config = await mkdtemp(join(tmpdir(), 'pronghorn-history-'))
    const { chainId } = running.chain
    await writeFile(
      join(config, 'connections.config.json'),
      JSON.stringify({
        sqldb: database.address,
        kvstore: { host: '127.0.0.1', port: 1 },
        chain: { name: 'test', chain_id: chainId, http: running.httpUrl, ship: running.shipUrl },
      }),
    )
    const reader = { ...testSettings, ship_check_roots: running.hasRoots }
    await writeFile(join(config, 'readers.config.json'), JSON.stringify([reader]))
    const run = async (...args: string[]): Promise<Ran> => {
      let [out, err] = ['', '']
      const code = await runCli(['verify', ...args, '--config', config], {
        env: {},
        isTerminal: false,
        out: (text) => (out += text),
        err: (text) => (err += text),
        signal: new AbortController().signal,
      })
      return { code, out, err }
    }
    try {
      const clean = await run('--history', '400..699')
      expect(clean, clean.err).toMatchObject({ code: 0, err: '' })
      expect(clean.out).toContain('read blocks 400 to 699 from the chain')
      expect(clean.out).toMatch(/^No differences: \d+ rows of 20 kinds in 300 blocks were compared\.$/m)
      // Two random ranges of 100 blocks. The first range of the chain has only 99, because block 0 does not exist.
      expect((await run('--history', '--sample', '2')).out).toMatch(/in (?:199|200) blocks were compared\.$/m)
      expect(await run('--history', '9..1')).toMatchObject({ code: 2 })
      expect(await run('--history', '--state')).toMatchObject({ code: 2 })
      const later = await run('--history', '2000000000..')
      expect(later).toMatchObject({ code: 75 })
      expect(later.out).toMatch(/^INCOMPLETE: 0 rows of 20 kinds in 0 blocks were compared\.$/m)
      const { out: none } = await run('--history', '2000000000..', '--json')
      expect(JSON.parse(none)).toMatchObject({ clean: false, blocks: 0 })

      expect(await run('--against', api.url)).toMatchObject({ code: 0, err: '' })

      const { rows } = await client.query<{ id: string }>(
        "UPDATE assets.transfers SET memo = 'altered' WHERE transfer_id = (SELECT min(transfer_id) FROM assets.transfers) RETURNING transfer_id::text AS id",
      )
      const table = ['--history', '--table', 'assets.transfers']
      const differing = await run(...table)
      expect(differing.code).toBe(1)
      expect(differing.out).toMatch(
        new RegExp(`^assets.transfers ${rows[0]!.id}\n {2}memo: chain .*, database altered$`, 'm'),
      )
      const json = JSON.parse((await run(...table, '--json')).out) as object
      expect(json).toMatchObject({
        clean: false,
        differences: [{ kind: 'assets.transfers', problem: 'differs' }],
      })
      const repaired = await run(...table, '--repair', '--yes')
      expect(repaired, repaired.err).toMatchObject({ code: 0 })
      expect(repaired.out).toContain('replaced 1 rows, and sealed 0 ranges again')
      expect(await run(...table)).toMatchObject({ code: 0 })
    } finally {
      await rm(config, { recursive: true, force: true })
    }
  },
  patient(120_000),
)

it('seals of imported rows are marked as indexed once a replay of the chain finds equal rows', async () => {
  const imported = "UPDATE chain.seals SET origin = 'imported'"
  const { rowCount } = await client.query(`${imported} WHERE first_block BETWEEN 400 AND 600`)
  const found = await replay({ ranges: [{ firstBlock: 400, lastBlock: 599 }] })
  expect(found.settled).toBeGreaterThan(0)
  const left = await client.query(
    "SELECT DISTINCT first_block AS first FROM chain.seals WHERE origin = 'imported'",
  )
  expect(left.rows).toEqual([{ first: 600 }])
  expect(rowCount).toBeGreaterThan(found.settled)
})
