import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { FatalError } from '../../services/core/errors/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { importDatabase, parseSourceAddress, planImport } from '../../services/filler/import/index.ts'
import type { ImportDatabaseOptions, ImportReport } from '../../services/filler/import/index.ts'
import { replayHistory } from '../../services/filler/replay/index.ts'
import { compareDumps, dumpDatabase } from '../integration/database-dump.ts'
import { readSeals, sealedKinds } from '../../services/core/seals/index.ts'
import type { KindSeals } from '../../services/core/seals/index.ts'
import { sealDatabase } from '../setup/seals.ts'
import type { DatabaseDump } from '../integration/database-dump.ts'
import { createFillerHome } from '../integration/filler-process.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { verifyOf } from '../verify/verify-of.ts'
import { restoreOldDatabase, withoutPayers } from './old-database.ts'

const SEALED_BLOCKS = 100
const tables = join(import.meta.dirname, '../fixtures/recordings/main/tables')

let old: TestDatabase
let imported: TestDatabase
let indexed: TestDatabase
let running: TestChain

beforeAll(async () => {
  old = await restoreOldDatabase()
  await withClient(old, (client) => client.query(LEFT_OUT))
  imported = await createTestDatabase()
  indexed = await createTestDatabase()
  running = await startChain({ recordings: ['main'] })
})

afterAll(async () => {
  await running.chain.stop()
  await Promise.all([old.drop(), imported.drop(), indexed.drop()])
})

async function withClient(
  database: TestDatabase,
  run: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await run(client).finally(() => client.end())
}

/** Source tables and a contract that the import omits, each with a row. */
const LEFT_OUT = `
  CREATE TABLE atomicassets_original_mints (contract varchar(12), asset_id bigint);
  INSERT INTO atomicassets_original_mints VALUES ('atomicassets', 1099511627776);
  CREATE TABLE simpleassets_assets (contract varchar(12), asset_id bigint);
  INSERT INTO simpleassets_assets VALUES ('simpleassets', 1);
  CREATE TABLE neftyblocks_drops (drop_id bigint);
  INSERT INTO neftyblocks_drops VALUES (1);
  INSERT INTO lists (list_name) VALUES ('verified');
  INSERT INTO delphioracle_pairs
    SELECT (jsonb_populate_record(d, '{"contract": "otheroracle"}')).* FROM delphioracle_pairs d LIMIT 1`

function importOptions(more: Partial<ImportDatabaseOptions> = {}): ImportDatabaseOptions {
  return {
    source: old.address,
    database: imported.address,
    chain: { chainId: running.chain.chainId, http: running.httpUrl },
    settings: { ...testSettings, seal_history: true },
    sealBlocks: SEALED_BLOCKS,
    workers: 3,
    logger: createLogger({ name: 'test', level: 'silent', pretty: true }),
    signal: new AbortController().signal,
    windowMs: 60_000,
    ...more,
  }
}

function runImport(more: Partial<ImportDatabaseOptions> = {}): Promise<ImportReport> {
  return importDatabase(importOptions(more))
}

/** Kinds of row whose seals differ, because the source lacks rows (see `known`) or the RAM payers of the rows. */
const lackedKinds = ['assets.blocks', 'assets.burns', 'assets.logs', 'assets.offers', 'chain.abis']

/** Expected differences of an import, apart from RAM payers: data that eosio-contract-api does not store. */
const known = [
  // eosio-contract-api does not log the action addnotifyacc and stores no transaction for it.
  expect.stringMatching(/^assets\.blocks lacks \(169,1795168355000,42,"\{0,1\}"/),
  expect.stringMatching(/^assets\.blocks has besides \(170,1795168355000,42,\{0\}/),
  expect.stringMatching(/^assets\.logs lacks \(169,-3841125926434622960,24,/),
  // The chain started with this ABI of `eosio`, so no setabi action was recorded.
  expect.stringMatching(/^chain\.abis lacks \(eosio,1,/),
]

async function differences(block: number): Promise<string[]> {
  await indexUntil(running, indexed.address, block)
  return compareDumps(
    withoutPayers(await dumpDatabase(indexed.address)),
    withoutPayers(await dumpDatabase(imported.address)),
  )
}

describe('a database of eosio-contract-api', () => {
  let report: ImportReport
  let before: DatabaseDump

  beforeAll(async () => {
    before = await dumpDatabase(old.address)
    report = await runImport()
  })

  it('the dry run of an import counts rows, checks the source and changes no database', async () => {
    const empty = await createTestDatabase()
    const home = await createFillerHome(running, empty.address)
    try {
      const { user, password, host, port, database } = old.address
      const address = `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`
      const process = home.start(['import-database', address, '--dry-run'])
      expect((await process.ended).code, process.output()).toBe(0)
      const text = process.output()
      expect(text).toContain('A database of version 1.3.24, to be imported at block 730')
      expect(text).toContain('10 reversible blocks are rolled back')
      expect(text).toMatch(/atomicassets_assets +581 rows/)
      // The imported dump has no indexes.
      expect(text).toContain('contract_traces have no index, so every step scans these tables entirely')
      expect(text).toMatch(
        /^Not imported:\n {2}atomicassets_original_mints \(1 rows\)\n {4}no endpoint shows/m,
      )
      expect(text).toContain('Nothing was changed.')
      expect(text).not.toContain(password)
    } finally {
      await home.remove()
      await empty.drop()
    }
  })

  it('an import that ends at the last irreversible block equals a database that indexed the same blocks', async () => {
    expect(report).toMatchObject({ block: 730, resumedSteps: 0 })
    expect(await differences(730)).toEqual(known)
  })

  it('an imported database has the same seals as an indexed database, marked as imported', async () => {
    const found: KindSeals[][] = []
    for (const { address } of [imported, indexed])
      found.push(await sealDatabase(address, testSettings.name, SEALED_BLOCKS))
    const [ours, theirs] = found
    expect(ours!.flatMap(({ seals }) => seals).length).toBeGreaterThan(sealedKinds.length)
    expect(ours!.flatMap(({ seals }) => seals.filter(({ origin }) => origin !== 'imported'))).toEqual([])
    const differing = ours!.filter(
      ({ seals }, at) =>
        JSON.stringify(seals.map(({ digest }) => digest)) !==
        JSON.stringify(theirs![at]!.seals.map(({ digest }) => digest)),
    )
    expect(differing.map(({ kind }) => kind)).toEqual(lackedKinds)
  })

  it('an imported database has the same history as an indexed database, except for data that the source lacks', async () => {
    await withClient(imported, async (client) => {
      await client.query('BEGIN')
      const replayed = await replayHistory(client, {
        settings: { ...testSettings, ship_check_roots: running.hasRoots },
        chain: { chainId: running.chain.chainId, http: running.httpUrl, ship: [running.shipUrl] },
        logger: importOptions().logger,
        signal: new AbortController().signal,
        ranges: [{ firstBlock: 1, lastBlock: 730 }],
      })
      expect([...new Set(replayed.differences.map(({ kind }) => kind))].toSorted()).toEqual(lackedKinds)
      const seals = (await readSeals(client)).flatMap(({ kind, seals: ranges }) =>
        ranges.map(({ origin, firstBlock }) => ({ kind, origin, firstBlock })),
      )
      const settled = seals.filter(({ origin }) => origin === 'indexed')
      expect(settled).toHaveLength(replayed.settled)
      // The replay ends at block 730, inside the last range of seals (from block 700). So the seals of this range are
      // not computed from indexed rows.
      expect(settled).toEqual(
        seals
          .filter(({ kind, firstBlock }) => !lackedKinds.includes(kind) && firstBlock < 700)
          .map((each) => ({ ...each, origin: 'indexed' })),
      )
      await client.query('ROLLBACK')
    })
  })

  it('the import reports data that the source lacks', () => {
    expect(report.differences.map(({ what }) => what)).toEqual([
      expect.stringContaining('chain.abis'),
      expect.stringContaining('ram_payer'),
      expect.stringContaining('addnotifyacc'),
      expect.stringContaining('market.bids.seq'),
      expect.stringContaining('market.sales without an offer'),
      expect.stringContaining('market.counters'),
      expect.stringContaining('oracle.pairs'),
      expect.stringContaining('tools.links.claimer_signature'),
    ])
  })

  it('the import reports tables and contracts that it does not use', () => {
    expect(report.leftOut).toEqual([
      {
        what: 'atomicassets_original_mints (1 rows)',
        why: expect.stringContaining('minted first') as string,
      },
      { what: 'lists (1 rows)', why: expect.stringContaining('list_polls') as string },
      { what: 'neftyblocks_drops (1 rows)', why: 'this version does not know the table' },
      { what: 'simpleassets_assets (1 rows)', why: expect.stringContaining('simpleassets') as string },
      { what: 'all rows of contract otheroracle', why: expect.stringContaining('oracle') as string },
    ])
  })

  it('the import does not change the source database', async () => {
    expect(compareDumps(before, await dumpDatabase(old.address))).toEqual([])
  })

  it('the import refuses a target database with a committed position', async () => {
    await expect(runImport()).rejects.toMatchObject({ code: 'IMPORT_TARGET_FILLED' })
  })

  it.each([740, 846])(
    'indexing continues after an import, and equals a database that indexed all blocks, at block %i',
    async (block) => {
      await indexUntil(running, imported.address, block)
      expect(await differences(block)).toEqual(known)
    },
  )
})

it("an import followed by indexed blocks ends with the rows of the chain node's tables", async () => {
  const report = await verifyOf(imported.address, { kind: 'folder', path: tables })
  expect(report).toMatchObject({ differences: [], derived: [], unfinished: null })
  expect(report.notes).toContainEqual(
    expect.stringContaining('the imported database does not contain the RAM payer'),
  )
})

describe('an unusable source', () => {
  async function refusals(sql: string): Promise<unknown[]> {
    const source = await restoreOldDatabase()
    const target = await createTestDatabase()
    try {
      const client = await connectDatabase(source.address, { applicationName: 'test' })
      await client.query(sql)
      await client.end()
      const options = importOptions({ source: source.address, database: target.address })
      return await Promise.all(
        [planImport(options), importDatabase(options)].map((run) => run.catch((error: unknown) => error)),
      )
    } finally {
      await Promise.all([source.drop(), target.drop()])
    }
  }

  it.each([
    [
      'an older version',
      "UPDATE dbinfo SET value = '1.2.9' WHERE name = 'version'",
      'IMPORT_SOURCE_UNFIT',
      /1\.2\.9/,
    ],
    [
      'several readers',
      "INSERT INTO contract_readers SELECT 'other', block_num, block_time, live, updated FROM contract_readers",
      'IMPORT_SOURCE_UNFIT',
      /atomic-1, other/,
    ],
    [
      'a gap in the reversible blocks',
      'DELETE FROM reversible_blocks WHERE block_num = 735',
      'IMPORT_SOURCE_UNFIT',
      /between 731 and its position 740/,
    ],
    [
      'another contract',
      "UPDATE atomicassets_config SET contract = 'otherassets'",
      'IMPORT_SOURCE_UNFIT',
      /does not index the assets contract atomicassets/,
    ],
    [
      'a family that the source lacks',
      'DROP TABLE atomicmarket_config CASCADE',
      'IMPORT_SOURCE_UNFIT',
      /lacks the table atomicmarket_config: remove the handler market/,
    ],
  ] as const)('the import refuses an unsuitable source database: %s', async (_, sql, code, message) => {
    for (const error of await refusals(sql))
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string })
  })

  it('the import refuses a source URL with an unescaped %', () => {
    expect(() => parseSourceAddress('postgres://user:50%off@host/old')).toThrow('written as %25')
    expect(parseSourceAddress('postgres://user:50%25off@/old?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
      password: '50%off',
    })
  })
})

it.each([
  ['atomicassets_collections', 'contract, collection_name'],
  ['atomicassets_schemas', 'contract, collection_name, schema_name'],
  ['atomicassets_templates', 'contract, template_id'],
  ['atomicassets_assets', 'contract, asset_id'],
  ['atomicassets_transfers', 'contract, transfer_id'],
])(
  'the import refuses a source without unique indexes in which a row of %s is duplicated, and names the key of the row',
  async (table, key) => {
    const [source, target] = [await restoreOldDatabase(), await createTestDatabase()]
    const client = await connectDatabase(source.address, { applicationName: 'test' })
    try {
      const { rows } = await client.query<{ key: string }>(
        `INSERT INTO ${table} SELECT * FROM ${table} ORDER BY ${key} LIMIT 1 RETURNING concat_ws(', ', ${key}) AS key`,
      )
      await expect(runImport({ source: source.address, database: target.address })).rejects.toMatchObject({
        code: 'IMPORT_SOURCE_UNFIT',
        message: `the source cannot be imported: ${table} has 2 rows with the key (${key}) = (${rows[0]!.key})`,
      })
    } finally {
      await client.end()
      await Promise.all([source.drop(), target.drop()])
    }
  },
)

/**
 * Damages of a source: the text that the error of the import contains, and the statement that causes the damage. `$` in
 * the text stands for the `id` that the statement returns.
 */
const sourceDamages: readonly (readonly [text: string, sql: string])[] = [
  [
    'assets.assets has every asset_id that the contract has given out: asset_id 1099511627776 to 1099511627776, asset_id $ to $',
    `WITH gone AS (DELETE FROM atomicassets_assets WHERE asset_id = 1099511627776 OR asset_id IN (
       SELECT max(asset_id) FROM atomicassets_assets WHERE owner IS NULL) RETURNING asset_id) SELECT max(asset_id) AS id FROM gone`,
  ],
  [
    'assets.offers has every offer_id that the contract has given out: offer_id 3',
    'DELETE FROM atomicassets_offers WHERE offer_id = 3 RETURNING 3 AS id',
  ],
  [
    'market.sales has every sale_id that the contract has given out: sale_id $',
    `DELETE FROM atomicmarket_sales WHERE sale_id IN (SELECT min(sale_id) FROM atomicmarket_sales WHERE state = 2) RETURNING sale_id AS id`,
  ],
  [
    'assets.templates has every template_id that the contract has given out: template_id 5',
    'DELETE FROM atomicassets_templates WHERE template_id = 5 RETURNING 5 AS id',
  ],
  [
    'each transfer moves an asset: transfer $',
    `DELETE FROM atomicassets_transfers_assets WHERE transfer_id IN (SELECT min(transfer_id) FROM atomicassets_transfers) RETURNING transfer_id AS id`,
  ],
  [
    'the sender of each transfer of an asset received the asset in the previous transfer, and the owner is the last recipient: asset ',
    `DELETE FROM atomicassets_transfers WHERE transfer_id IN (SELECT max(transfer_id) FROM atomicassets_transfers WHERE created_at_block < 600) RETURNING 1 AS id`,
  ],
  [
    'the issued supply of a template is the number of its assets: template 1 issued',
    'UPDATE atomicassets_templates SET issued_supply = issued_supply + 1 WHERE template_id = 1 RETURNING 1 AS id',
  ],
  [
    'the bids of an auction ascend, and its price is the last bid: auction $',
    `DELETE FROM atomicmarket_auctions_bids b WHERE (auction_id, bid_number) IN (
       SELECT auction_id, max(bid_number) FROM atomicmarket_auctions_bids GROUP BY 1 ORDER BY 1 LIMIT 1) RETURNING auction_id AS id`,
  ],
  [
    'the numbers of the assets of each side of an offer have no gap, and each number has one row: offer_id $',
    `DELETE FROM atomicassets_offers_assets WHERE index = 1 AND (offer_id, owner) IN (
       SELECT offer_id, owner FROM atomicassets_offers_assets WHERE index = 2 ORDER BY 1 LIMIT 1)
     RETURNING concat_ws(' ', offer_id, 'owner', owner) AS id`,
  ],
  [
    'the numbers of the assets of an auction have no gap, and each number has one row: auction_id $',
    `DELETE FROM atomicmarket_auctions_assets WHERE index = 1 AND auction_id IN (
       SELECT auction_id FROM atomicmarket_auctions_assets WHERE index = 2) RETURNING auction_id AS id`,
  ],
  [
    'the numbers of the assets of a buy offer have no gap, and each number has one row: buyoffer_id $',
    `DELETE FROM atomicmarket_buyoffers_assets WHERE index = 1 AND buyoffer_id IN (
       SELECT buyoffer_id FROM atomicmarket_buyoffers_assets WHERE index = 2) RETURNING buyoffer_id AS id`,
  ],
  [
    'each offer has an asset: offer $',
    `DELETE FROM atomicassets_offers_assets WHERE offer_id = (
       SELECT offer_id FROM atomicassets_offers_assets GROUP BY 1 HAVING count(*) = 1 ORDER BY 1 LIMIT 1) RETURNING offer_id AS id`,
  ],
  [
    'each block in which rows of market were created has logs: block $',
    `WITH hole AS (SELECT min(created_at_block) AS num FROM atomicmarket_sales WHERE created_at_block > 400), gone AS (
       DELETE FROM contract_traces WHERE created_at_block IN (SELECT num FROM hole) AND account = 'atomicmarket' RETURNING 1)
     SELECT num AS id FROM hole, (SELECT count(*) FROM gone) c`,
  ],
  [
    'each row of market.auctions has the log of its creation: auction_id 2',
    `DELETE FROM contract_traces WHERE name = 'lognewauct' AND metadata->>'auction_id' = '2' RETURNING 2 AS id`,
  ],
  [
    'each row of assets.assets has the log of its creation: asset_id 1099511627790',
    `DELETE FROM contract_traces WHERE name = 'logmint' AND metadata->>'asset_id' = '1099511627790' RETURNING 1 AS id`,
  ],
  [
    'assets.templates has every template_id that the contract has given out: template_id 5 to 5, template_id $ to $',
    'DELETE FROM atomicassets_templates WHERE template_id IN (SELECT max(template_id) FROM atomicassets_templates) RETURNING template_id AS id',
  ],
  [
    'each collection and schema whose creation was logged has a row in assets.collections or assets.schemas: collection emptycollect',
    "DELETE FROM atomicassets_collections WHERE collection_name = 'emptycollect' RETURNING 1 AS id",
  ],
  [
    'each schema refers to an existing collection, and each template and asset to an existing schema: collection $',
    `DELETE FROM atomicassets_schemas WHERE (collection_name, schema_name) IN (
       SELECT collection_name, schema_name FROM atomicassets_assets WHERE asset_id = 1099511627777)
     RETURNING concat_ws(' ', collection_name, 'schema', schema_name) AS id`,
  ],
  [
    'each token of a listing has a row in market.tokens or market.symbol_pairs: $ of market.sales.listing_symbol',
    `DELETE FROM atomicmarket_tokens WHERE token_symbol = 'KARMA' RETURNING token_symbol AS id`,
  ],
  [
    'each marketplace of a listing has a row in market.marketplaces: "" of market.auctions.maker_marketplace',
    "DELETE FROM atomicmarket_marketplaces WHERE marketplace_name = '' RETURNING 1 AS id",
  ],
]

it('if the missing rows of a refused source are added, the next import of that source starts over and succeeds', async () => {
  const [source, target] = [await restoreOldDatabase(), await createTestDatabase()]
  const client = await connectDatabase(source.address, { applicationName: 'test' })
  try {
    await client.query('CREATE TABLE kept AS SELECT * FROM atomicmarket_sales')
    await client.query('TRUNCATE atomicmarket_sales')
    const options = { source: source.address, database: target.address }
    await expect(runImport(options)).rejects.toThrow(
      'the source is incomplete: market.sales has every sale_id that the contract has given out: sale_id 1 to 9',
    )
    await client.query('INSERT INTO atomicmarket_sales SELECT * FROM kept')
    expect(await runImport(options)).toMatchObject({ resumedSteps: 0, lacking: [] })
  } finally {
    await client.end()
    await Promise.all([source.drop(), target.drop()])
  }
})

it('the import refuses a source in which the list of an offer contains an asset twice', async () => {
  const [source, target] = [await restoreOldDatabase(), await createTestDatabase()]
  const client = await connectDatabase(source.address, { applicationName: 'test' })
  try {
    await client.query(
      'INSERT INTO atomicassets_offers_assets SELECT * FROM atomicassets_offers_assets WHERE offer_id = 1 LIMIT 1',
    )
    await expect(runImport({ source: source.address, database: target.address })).rejects.toThrow(
      'the numbers of the assets of each side of an offer have no gap, and each number has one row: offer_id 1 ',
    )
  } finally {
    await client.end()
    await Promise.all([source.drop(), target.drop()])
  }
})

it('the import refuses a source that lacks rows and names each gap, and imports the source if the operator accepts the gaps', async () => {
  const [source, target] = [await restoreOldDatabase(), await createTestDatabase()]
  const client = await connectDatabase(source.address, { applicationName: 'test' })
  try {
    const named: string[] = []
    for (const [text, sql] of sourceDamages) {
      const { rows } = await client.query<{ id: bigint }>(sql)
      expect(rows.length, sql).toBeGreaterThan(0)
      named.push(text.replaceAll('$', String(rows[0]!.id)))
    }
    const options = { source: source.address, database: target.address }
    const refused = (await runImport(options).catch((error: unknown) => error)) as FatalError
    expect(refused).toMatchObject({ code: 'IMPORT_SOURCE_INCOMPLETE' })
    for (const text of named) expect(refused.message).toContain(text)
    const report = await runImport({ ...options, mayLack: true })
    expect(report.resumedSteps).toBeGreaterThan(0)
    expect(report.lacking.map((gap) => gap.replace(/:.*/, ''))).toEqual(
      expect.arrayContaining(named.map((text) => text.replace(/:.*/, ''))),
    )
    const { notes, derived } = await verifyOf(target.address, { kind: 'folder', path: tables })
    for (const gap of report.lacking)
      expect(notes).toContainEqual(
        `not checked, because the imported database lacked rows and the import accepted this: ${gap}`,
      )
    expect(derived).toEqual([])
  } finally {
    await client.end()
    await Promise.all([source.drop(), target.drop()])
  }
})
