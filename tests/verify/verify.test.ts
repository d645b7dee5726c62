import type { SourceChoice } from '../../services/verify/engine/verify-database.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { takeLease } from '../../services/filler/index.ts'
import { compareDigests, planRepairs, repairDatabase } from '../../services/verify/index.ts'
import { openOwnDecoder } from '../../services/verify/decode/row-decoder.ts'
import type { DatabaseDigest } from '../../services/verify/index.ts'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { expectedDecoder } from '../decode/abieos.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { damages } from './damage.ts'
import { broadChain, createBroadDatabase, keepingSettings, verifyOf } from './verify-of.ts'

/** The chain produces no blocks during the comparisons. */
let running: TestChain
let database: TestDatabase

beforeAll(async () => {
  running = await startChain(broadChain.chain)
  database = await createBroadDatabase()
})

afterAll(async () => {
  await running.chain.stop()
  await database.drop()
})

async function change<T extends object>(text: string): Promise<T[]> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  try {
    return (await client.query<T>(text)).rows
  } finally {
    await client.end()
  }
}

const signal = new AbortController().signal
const state: SourceChoice = { kind: 'state' }
const node = (): SourceChoice => ({ kind: 'http', url: running.httpUrl })

describe('an undamaged database', () => {
  it('verify finds no difference in an undamaged database, neither from stored rows nor from a node', async () => {
    for (const source of [state, node()]) {
      const report = await verifyOf(database.address, source)
      expect(report).toMatchObject({ differences: [], derived: [], notes: [], unfinished: null })
      expect(report.decoder).toMatch(expectedDecoder())
      expect(report.tables).toHaveLength(27)
      const empty = report.tables.filter(({ rows }) => rows === 0).map(({ table }) => table)
      expect(empty).toEqual([])
    }
  })

  it("verify with the project's own decoder finds no difference in an undamaged database, and the report names the decoder", async () => {
    const report = await verifyOf(database.address, state, { decoder: openOwnDecoder() })
    expect(report.differences).toEqual([])
    expect(report.decoder).toBe('own decoder (requested)')
  })
})

/** Copy of the undamaged marketplaces table. The copy is in the schema `public`, which database digests leave out. */
const KEPT_MARKETPLACES = 'public.kept_marketplaces'

describe('twelve rows damaged by hand', () => {
  let expected: { table: string; kind: string; key: string }[]
  let before: DatabaseDigest

  beforeAll(async () => {
    before = await digestOf(database.address)
    await change(`CREATE TABLE ${KEPT_MARKETPLACES} AS SELECT * FROM market.marketplaces`)
    expected = []
    for (const { table, kind, text } of damages) {
      const rows = await change<{ key: string }>(text)
      expect(rows).toHaveLength(1)
      expected.push({ table, kind, key: rows[0]!.key })
    }
  })

  it('verify finds the twelve rows damaged by hand, and no other row', async () => {
    for (const source of [state, node()]) {
      const report = await verifyOf(database.address, source, { pollMs: 20, stallMs: 200 })
      const found = report.differences.map(({ table, kind, key }) => ({ table, kind, key }))
      expect(found).toHaveLength(12)
      expect(found).toEqual(expect.arrayContaining(expected))
      // The damaged row of `assets.config` breaks a rule: the offer counter in the row exceeds the ids of all offers.
      expect(report.derived!.map(({ rule }) => rule)).toEqual([
        'assets.offers has every offer_id that the contract has given out',
      ])
      expect(report.unfinished).toBeNull()
    }
  })

  it('verify reports both values of rows damaged by hand, and can be limited to tables or a collection', async () => {
    const [asset] = expected.filter(({ table }) => table === 'assets.assets')
    const report = await verifyOf(database.address, state, { tables: ['assets.assets'] })
    expect(report.tables.map(({ table }) => table)).toEqual(['assets.assets'])
    expect(report.derived).toBeNull()
    expect(report.differences).toMatchObject([
      { key: asset!.key, kind: 'differs', columns: [{ column: 'ram_payer', database: 'nobody' }] },
    ])
    const [{ collection_name: collection } = { collection_name: '' }] = await change<{
      collection_name: string
    }>(`SELECT collection_name FROM assets.assets WHERE asset_id = ${asset!.key}`)
    for (const source of [state, node()]) {
      const inside = await verifyOf(database.address, source, {
        tables: ['assets.assets'],
        collection,
        pollMs: 20,
        stallMs: 200,
      })
      expect(inside.differences.map(({ key }) => key)).toEqual([asset!.key])
      const [{ count } = { count: 0n }] = await change<{ count: bigint }>(
        `SELECT count(*) FROM assets.assets WHERE owner IS NOT NULL AND collection_name = '${collection}'`,
      )
      expect(inside.tables[0]!.rows).toBe(Number(count))
    }
  })

  it('verify with a sample of 100,000 rows finds every changed or added row, but no missing row; with a sample of 5 rows, verify reads 5 rows', async () => {
    for (const source of [state, node()]) {
      const more = { pollMs: 20, stallMs: 200 }
      const large = await verifyOf(database.address, source, { ...more, sample: 100_000 })
      // A sampled comparison starts from rows of the database, so it cannot find missing rows.
      expect(large.differences.map(({ table }) => table).sort()).toEqual(
        damages.flatMap(({ table, kind }) => (kind === 'missing' ? [] : [table])).sort(),
      )
      const small = await verifyOf(database.address, source, {
        ...more,
        sample: 5,
        tables: ['assets.assets'],
      })
      expect(small.tables[0]!.rows).toBe(5)
    }
  })

  it('twelve rows damaged by hand are not repaired while a filler holds the lease', async () => {
    const filler = await connectDatabase(database.address, { applicationName: 'test' })
    await takeLease(filler, testSettings.name)
    await expect(repairDatabase(database.address, { source: state, signal })).rejects.toMatchObject({
      code: 'READER_LEASE_HELD',
    })
    await filler.end()
    expect((await verifyOf(database.address, state)).differences).toHaveLength(12)
  })

  it('a repair of twelve rows damaged by hand writes nothing if the chain cannot provide the values of two of the rows', async () => {
    const { digest } = await digestOf(database.address)
    const { repairs, refused, isWritten, digests } = await repairDatabase(database.address, {
      source: state,
      signal,
    })
    expect(repairs).toHaveLength(12)
    const impossible = repairs.filter((repair) => repair.impossible !== null)
    expect(impossible.map(({ found, impossible: why }) => [found.difference.table, why])).toEqual([
      ['market.counters', expect.stringContaining('so it may have lost the row')],
      ['market.marketplaces', expect.stringContaining('restore a backup')],
    ])
    expect(refused).toEqual([])
    expect({ isWritten, digests }).toEqual({ isWritten: false, digests: { before: digest, after: digest } })
    expect((await digestOf(database.address)).digest).toBe(digest)
  })

  it('a repair with a node at the committed block restores the values of eleven rows damaged by hand', async () => {
    await change(`INSERT INTO market.marketplaces SELECT * FROM ${KEPT_MARKETPLACES} ON CONFLICT DO NOTHING`)
    const { repairs, isWritten, digests } = await repairDatabase(database.address, { source: node(), signal })
    expect(repairs).toHaveLength(11)
    expect(isWritten).toBe(true)
    expect(await verifyOf(database.address, state)).toMatchObject({ differences: [], derived: [] })
    const after = await digestOf(database.address)
    expect(compareDigests(before, after)).toEqual([])
    expect(digests.after).toBe(after.digest)
  })

  it('a repair is refused if the node is at another block than the reader', async () => {
    running.chain.generate(1)
    await expect(repairDatabase(database.address, { source: node(), signal })).rejects.toThrow(
      'a repair must not write rows of another block',
    )
  })
})

it('if the state service is the source and lacks rows, a repair removes none of these rows from the database, and the report gives the reason', async () => {
  const lost = "account = 'atomicassets' AND table_name = 'balances'"
  await change(`CREATE TABLE public.kept_rows AS SELECT * FROM state.rows WHERE ${lost}`)
  await change(`DELETE FROM state.rows WHERE ${lost}`)
  const { digest } = await digestOf(database.address)
  const { report, repairs, isWritten, digests } = await repairDatabase(database.address, {
    source: state,
    signal,
  })
  expect(report.differences.length).toBeGreaterThan(0)
  for (const { found, statements, impossible } of repairs) {
    expect(found.difference).toMatchObject({ table: 'assets.balances', kind: 'extra' })
    expect(statements).toEqual([])
    expect(impossible).toBe(
      'the state service lacks the row, but its rows are not sealed, so it may have lost the row: compare with a node at the committed block',
    )
  }
  expect({ isWritten, digests }).toEqual({ isWritten: false, digests: { before: digest, after: digest } })
  expect((await digestOf(database.address)).digest).toBe(digest)
  await change('INSERT INTO state.rows SELECT * FROM public.kept_rows')
  await change('DROP TABLE public.kept_rows')
})

describe('the check of derived values', () => {
  let undamaged: string
  beforeAll(async () => {
    expect(await verifyOf(database.address, state)).toMatchObject({ differences: [], derived: [] })
    undamaged = (await digestOf(database.address)).digest
  })
  // Each test restores the rows that it damages.
  afterEach(async () => {
    expect((await digestOf(database.address)).digest).toBe(undamaged)
  })

  it('a wrong counter is recomputed if the chain still holds the counted rows', async () => {
    const { digest } = await digestOf(database.address)
    await change(
      'UPDATE assets.accounts SET assets = assets + 1 WHERE account = (SELECT min(account) FROM assets.accounts)',
    )
    await change('DELETE FROM assets.open_offer_assets')
    const report = await verifyOf(database.address, state)
    expect(report.differences).toEqual([])
    const rules = [
      'assets.accounts counts assets by owner',
      'open_offer_assets has the assets of each open offer',
    ]
    expect(report.derived!.map(({ rule }) => rule)).toEqual(rules)
    const { rebuilt, isWritten } = await repairDatabase(database.address, { source: state, signal })
    expect({ rebuilt, isWritten }).toEqual({ rebuilt: rules, isWritten: true })
    expect((await digestOf(database.address)).digest).toBe(digest)
  })

  it('a repair that is stopped while it waits for a lock exits at once and writes nothing', async () => {
    const account = '(SELECT min(account) FROM assets.accounts)'
    const { digest } = await digestOf(database.address)
    await change(`UPDATE assets.accounts SET assets = assets + 1 WHERE account = ${account}`)
    const damaged = (await digestOf(database.address)).digest
    const holder = await connectDatabase(database.address, { applicationName: 'holder' })
    await holder.query('BEGIN')
    await holder.query(`SELECT 1 FROM assets.accounts WHERE account = ${account} FOR UPDATE`)
    const stop = new AbortController()
    const repair = repairDatabase(database.address, { source: state, signal: stop.signal })
    repair.catch(() => undefined)
    // In a transaction pg_stat_activity returns a snapshot, so this query needs its own transaction.
    const waiting = () =>
      change(
        `SELECT 1 FROM pg_stat_activity WHERE application_name = 'pronghorn verify --repair' AND wait_event_type = 'Lock'`,
      )
    await expect.poll(waiting, { timeout: patient(60_000) }).toHaveLength(1)
    stop.abort()
    await expect(repair).rejects.toMatchObject({ code: 'VERIFY_UNFINISHED' })
    await holder.query('ROLLBACK')
    await holder.end()
    expect((await digestOf(database.address)).digest).toBe(damaged)
    await change(`UPDATE assets.accounts SET assets = assets - 1 WHERE account = ${account}`)
    expect((await digestOf(database.address)).digest).toBe(digest)
  })

  it('a wrong counter is reported but not written if the chain no longer holds the counted rows', async () => {
    const { digest } = await digestOf(database.address)
    await change(
      'UPDATE assets.template_counts SET minted = minted + 1 WHERE template_id = (SELECT min(template_id) FROM assets.template_counts)',
    )
    await change('UPDATE market.account_stats SET sells = sells + 1')
    const damaged = (await digestOf(database.address)).digest
    const { rebuilt, refused, isWritten } = await repairDatabase(database.address, { source: state, signal })
    expect({ rebuilt, isWritten }).toEqual({ rebuilt: [], isWritten: false })
    expect(refused).toMatchObject([
      {
        rule: 'assets.template_counts counts assets',
        why: expect.stringMatching(/^burned assets may/) as string,
      },
      {
        rule: 'account_stats has the number and volume of trades by account',
        why: expect.stringMatching(/^ended listings may/) as string,
      },
    ])
    expect((await digestOf(database.address)).digest).toBe(damaged)
    await change(
      'UPDATE assets.template_counts SET minted = minted - 1 WHERE template_id = (SELECT min(template_id) FROM assets.template_counts)',
    )
    await change('UPDATE market.account_stats SET sells = sells - 1')
    expect((await digestOf(database.address)).digest).toBe(digest)
  })

  it('missing burned assets are found by gaps in the asset ids, and a repair writes nothing for these assets', async () => {
    const { digest } = await digestOf(database.address)
    const burned =
      'owner IS NULL AND asset_id IN (SELECT asset_id FROM assets.assets WHERE owner IS NULL ORDER BY asset_id LIMIT 5)'
    await change(`CREATE TABLE public.kept_assets AS SELECT * FROM assets.assets WHERE ${burned}`)
    await change(`DELETE FROM assets.assets WHERE ${burned}`)
    const { derived } = await verifyOf(database.address, state)
    const [lacking] = derived!.filter(({ rule }) => rule.startsWith('assets.assets has every asset_id'))
    expect(lacking!.violations.length).toBeGreaterThan(0)
    const { isWritten } = await repairDatabase(database.address, { source: state, signal })
    expect(isWritten).toBe(false)
    const [columns] = await change<{
      names: string
    }>(`SELECT string_agg(attname, ', ' ORDER BY attnum) AS names
      FROM pg_attribute WHERE attrelid = 'assets.assets'::regclass AND attnum > 0 AND attgenerated = '' AND NOT attisdropped`)
    await change(
      `INSERT INTO assets.assets (${columns!.names}) SELECT ${columns!.names} FROM public.kept_assets`,
    )
    expect((await digestOf(database.address)).digest).toBe(digest)
  })

  it('verify reports a mint number beyond the supply of its template', async () => {
    const asset = `(SELECT max(asset_id) FROM assets.assets a WHERE template_mint IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM market.listing_assets l WHERE l.asset_id = a.asset_id))`
    await change(`UPDATE assets.assets SET template_mint = template_mint + 1000 WHERE asset_id = ${asset}`)
    const { derived } = await verifyOf(database.address, state)
    expect(derived).toMatchObject([{ rule: expect.stringContaining('mint numbers') as string, count: 1 }])
    await change(`UPDATE assets.assets SET template_mint = template_mint - 1000 WHERE asset_id = ${asset}`)
  })

  it('a repair reports a violation that its rule cannot correct, and writes nothing', async () => {
    const sale = '(SELECT min(sale_id) FROM market.sales WHERE state = 2)'
    await change(`UPDATE market.sales SET state = 5 WHERE sale_id = ${sale}`)
    const { refused, rebuilt, isWritten } = await repairDatabase(database.address, { source: state, signal })
    expect({ rebuilt, isWritten }).toEqual({ rebuilt: [], isWritten: false })
    expect(refused.map(({ rule }) => rule)).toEqual([
      'a listed sale has a pending offer, and an invalid sale has no pending offer',
      'listing_counts counts listings by state and collection',
    ])
    await change('UPDATE market.sales SET state = 2 WHERE state = 5')
  })

  it('a row whose values the chain cannot provide is reported, and a repair does not create it', async () => {
    await change(`INSERT INTO market.buyoffers (buyoffer_id, created_at_time, updated_at_time, price, collection_fee, created_at_block,
        updated_at_block, state, asset_count, seller, buyer, token_symbol, collection_name, maker_marketplace, memo, asset_ids)
      SELECT 999999, 0, 0, price, collection_fee, 0, 0, state, asset_count, seller, buyer, token_symbol, collection_name,
        maker_marketplace, memo, asset_ids FROM market.buyoffers WHERE state IN (0, 4) LIMIT 1`)
    const repaired = await repairDatabase(database.address, { source: state, signal })
    expect(repaired.isWritten).toBe(false)
    expect(repaired.repairs).toMatchObject([{ statements: [], found: { difference: { kind: 'extra' } } }])
    const [repairWithNode] = planRepairs({ ...repaired, absenceDoubt: null })
    expect(repairWithNode!.impossible).toContain('restore a backup')
    await change('DELETE FROM market.buyoffers WHERE buyoffer_id = 999999')
  })
})

it('verify reports a contract that the chain lacks, and compares all other contracts', async () => {
  const database = await createTestDatabase()
  const running = await startChain({ recordings: ['main'] })
  try {
    await indexUntil(running, database.address, 846)
    const report = await verifyOf(database.address, { kind: 'http', url: running.httpUrl })
    expect(report).toMatchObject({
      differences: [],
      unfinished: null,
      incomplete: ['neither the database nor the source has a row of atomictoolsx'],
    })
    expect(report.notes).toEqual([
      expect.stringContaining('has no account atomictoolsx, so this contract has no rows'),
    ])
  } finally {
    await running.chain.stop()
    await database.drop()
  }
})

it('verify by stored rows refuses a contract whose ABI was set before the first indexed block', async () => {
  const database = await createTestDatabase()
  const running = await startChain({ recordings: ['main'] })
  try {
    await indexUntil(running, database.address, 500, { settings: { ...keepingSettings, start_block: 400 } })
    await expect(verifyOf(database.address, state)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('the ABI of atomicassets was set before') as string,
    })
  } finally {
    await running.chain.stop()
    await database.drop()
  }
})
