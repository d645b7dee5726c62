import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { findDerivedViolations } from '../../services/core/derived/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { importDatabase } from '../../services/filler/import/index.ts'
import type { ImportReport } from '../../services/filler/import/index.ts'
import { compareDumps, dumpDatabase } from '../integration/database-dump.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { verifyOf } from '../verify/verify-of.ts'
import { restoreOldDatabase, withoutPayers } from './old-database.ts'

/** Changes that atomicassets-api 2.x made to the schema of eosio-contract-api, with an example row for each change. */
const SUCCESSOR = `
  UPDATE dbinfo SET value = '2.0.4' WHERE name = 'version';
  ALTER TABLE atomicassets_config ADD v2_marker_block bigint;
  ALTER TABLE atomicmarket_config ADD v2_marker_block bigint;
  UPDATE atomicmarket_config SET v2_marker_block = 700;
  ALTER TABLE atomicassets_collections ADD new_author_name varchar(12), ADD new_author_date bigint;
  UPDATE atomicassets_collections SET new_author_name = 'erin', new_author_date = 1795168400000 WHERE collection_name = 'bob';
  ALTER TABLE atomicassets_schemas ADD types jsonb[];
  UPDATE atomicassets_schemas SET types = ARRAY['{"name": "img", "mediatype": "image", "info": ""}'::jsonb]
    WHERE schema_name = 'minimal';
  ALTER TABLE atomicassets_templates ADD mutable_data jsonb, ADD deleted_at_block bigint, ADD deleted_at_time bigint;
  UPDATE atomicassets_templates SET mutable_data = '{"img": "changed"}' WHERE template_id = 12;
  UPDATE atomicassets_templates SET deleted_at_block = 705, deleted_at_time = 1795168686500 WHERE template_id = 6;
  CREATE TABLE atomicmarket_royalties_config (market_contract varchar(12), collection_name varchar(13), founders jsonb,
    attribute_mode smallint, split_founders bigint, split_templates bigint, split_attributes bigint,
    created_at_block bigint, created_at_time bigint, updated_at_block bigint, updated_at_time bigint);
  INSERT INTO atomicmarket_royalties_config VALUES ('atomicmarket', 'alicecollect', '[{"recipient": "alice", "weight": 1}]',
    0, 10000, 0, 0, 701, 1795168684500, 702, 1795168685000);
  CREATE TABLE atomicmarket_royalties_templates (market_contract varchar(12), collection_name varchar(13), template_id bigint,
    recipients jsonb, created_at_block bigint, created_at_time bigint, updated_at_block bigint, updated_at_time bigint);
  CREATE TABLE atomicmarket_royalties_attributes (market_contract varchar(12), collection_name varchar(13), rule_id bigint,
    source smallint, field text, value jsonb, weight bigint, recipients jsonb, lookup_hash bytea,
    created_at_block bigint, created_at_time bigint, updated_at_block bigint, updated_at_time bigint);
  CREATE TABLE atomicmarket_royalty_payouts (market_contract varchar(12), log_global_sequence bigint, payout_index integer,
    listing_type smallint, listing_id bigint, category smallint, collection_name varchar(13), asset_id bigint,
    template_id bigint, rule_id bigint, recipient varchar(12), amount bigint, token_symbol varchar(12), txid bytea,
    created_at_block bigint, created_at_time bigint);
  INSERT INTO atomicmarket_royalty_payouts SELECT 'atomicmarket', 5791, place, 1, 9, 1, 'alicecollect', NULL, NULL, NULL,
    'alice', 500 + place, 'WAX', decode(repeat('ab', 32), 'hex'), 705, 1795168686500 FROM generate_series(0, 1) place;
  INSERT INTO contract_traces VALUES (5790, 'atomicassets', 'logsetdatatl',
    '{"collection_name": "alicecollect", "schema_name": "items", "template_id": 12, "old_data": [],
      "new_data": [{"key": "img", "value": ["string", "changed"]}]}', decode(repeat('aa', 32), 'hex'), 705, 1795168686500),
    (5791, 'atomicmarket', 'logroyfound', '{}', decode(repeat('ab', 32), 'hex'), 705, 1795168686500)`

function importOptions(source: TestDatabase, target: TestDatabase, { chain, httpUrl }: TestChain) {
  return {
    source: source.address,
    database: target.address,
    chain: { chainId: chain.chainId, http: httpUrl },
    settings: testSettings,
    workers: 2,
    logger: createLogger({ name: 'test', level: 'silent', pretty: true }),
    signal: new AbortController().signal,
  }
}

let old: TestDatabase
let imported: TestDatabase
let running: TestChain

beforeAll(async () => {
  old = await restoreOldDatabase()
  imported = await createTestDatabase()
  running = await startChain({ recordings: ['main'] })
  const client = await connectDatabase(old.address, { applicationName: 'test' })
  await client.query(SUCCESSOR)
  await client.end()
})

afterAll(async () => {
  await running.chain.stop()
  await Promise.all([old.drop(), imported.drop()])
})

const select = (text: string) => query(imported, text)

async function query({ address }: TestDatabase, text: string): Promise<unknown[]> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    return (await client.query({ text, rowMode: 'array' })).rows as unknown[]
  } finally {
    await client.end()
  }
}

it('columns that the successor of eosio-contract-api added are imported', async () => {
  await importDatabase(importOptions(old, imported, running))
  expect(await select('SELECT v2_since_block FROM market.config')).toEqual([[700]])
  expect(await select('SELECT * FROM assets.author_swaps')).toEqual([['bob', 1_795_168_400n, 'bob', 'erin']])
  expect(await select('SELECT types FROM assets.schemas WHERE types IS NOT NULL')).toEqual([
    [[{ name: 'img', mediatype: 'image', info: '' }]],
  ])
  expect(
    await select(
      'SELECT template_id, mutable_data, deleted_at_block FROM assets.templates WHERE template_id IN (6, 12) ORDER BY 1',
    ),
  ).toEqual([
    [6, null, 705],
    [12, { img: 'changed' }, null],
  ])
  expect(
    await select(
      'SELECT collection_name, split_founders, founders, updated_at_block FROM market.royalty_configs',
    ),
  ).toEqual([['alicecollect', 10_000n, [{ recipient: 'alice', weight: 1 }], 702]])
  expect(
    await select(
      'SELECT seq, payout_index, kind, listing_id, amount, recipient FROM market.royalty_payouts ORDER BY 2',
    ),
  ).toEqual([
    [5791n, 0, 1, 9n, 500n, 'alice'],
    [5791n, 1, 1, 9n, 501n, 'alice'],
  ])
  expect(await select('SELECT action, subject FROM market.logs WHERE seq = 5791')).toEqual([[10, 9n]])
  expect(await select("SELECT encode(txid, 'hex') FROM market.origin_of(5791)")).toEqual([['ab'.repeat(32)]])
  expect(await select('SELECT subject, data FROM assets.logs WHERE seq = 5790')).toEqual([
    [12n, { schema_name: 'items' }],
  ])
  const { derived } = await verifyOf(imported.address, {
    kind: 'folder',
    path: new URL('../fixtures/recordings/main/tables', import.meta.url).pathname,
  })
  expect(derived).toEqual([])
})

describe('a database of atomicassets-api, the successor of eosio-contract-api', () => {
  let successor: TestDatabase
  let target: TestDatabase
  let indexed: TestDatabase
  let chain: TestChain
  let report: ImportReport

  beforeAll(async () => {
    successor = await restoreOldDatabase('v2-964')
    target = await createTestDatabase()
    indexed = await createTestDatabase()
    chain = await startChain({ recordings: ['main', 'v2'] })
    report = await importDatabase(importOptions(successor, target, chain))
  })

  afterAll(async () => {
    await chain.chain.stop()
    await Promise.all([successor.drop(), target.drop(), indexed.drop()])
  })

  /** Expected differences of an import, apart from RAM payers: data that the database of atomicassets-api lacks. */
  const lacking = [
    expect.stringMatching(/^assets\.assets lacks \(1099511628358,.*__proto__/),
    expect.stringMatching(/^assets\.assets has besides \(1099511628358,/),
    expect.stringMatching(/^assets\.blocks lacks \(169,/),
    expect.stringMatching(/^assets\.blocks has besides \(170,/),
    expect.stringMatching(/^assets\.config lacks \(atomicassets,atomicassets,2\.0\.0,865,/),
    expect.stringMatching(/^assets\.config has besides \(atomicassets,atomicassets,2\.0\.0,958,/),
    expect.stringMatching(/^assets\.logs lacks \(169,/),
    expect.stringMatching(/^assets\.logs lacks \(6135,/),
    expect.stringMatching(/^assets\.logs has besides \(6135,/),
    expect.stringMatching(/^assets\.templates lacks \(20,883,.*ephemeral/),
    ...['atomicassets,21', 'atomicmarket,21', 'deferrer,19'].map((row): unknown =>
      expect.stringMatching(new RegExp(`^chain\\.abis lacks \\(${row},`)),
    ),
    expect.stringMatching(/^chain\.abis lacks 7 more/),
  ]

  it.each([958, 964])(
    'an imported database of atomicassets-api equals a database that indexed the same blocks, except for missing data, at block %i',
    async (block) => {
      expect(report.block).toBe(958)
      await indexUntil(chain, target.address, block)
      await indexUntil(chain, indexed.address, block)
      const differences = compareDumps(
        withoutPayers(await dumpDatabase(indexed.address)),
        withoutPayers(await dumpDatabase(target.address)),
      )
      expect(differences).toEqual(lacking)
    },
  )

  it("an import without the market's ABI continues with the ABI from the node, and equals a database that indexed the same blocks", async () => {
    expect(await query(target, "SELECT FROM chain.abis WHERE account = 'atomicmarket'")).toEqual([])
    chain.chain.generate(60)
    const { num } = chain.chain.head()
    await indexUntil(chain, target.address, num)
    await indexUntil(chain, indexed.address, num)
    const events = 'SELECT FROM market.logs l CROSS JOIN market.origin_of(l.seq) o WHERE o.block_num > 964'
    expect(await query(target, events)).not.toEqual([])
    const differences = compareDumps(
      withoutPayers(await dumpDatabase(indexed.address)),
      withoutPayers(await dumpDatabase(target.address)),
    )
    // Undo rows are earlier versions of rows, so the undo rows of `assets.config` lack the same values as its rows
    // (`lacking`).
    expect(differences.filter((text) => !text.startsWith('undo.assets_config '))).toEqual(lacking)
  })

  it('the import from a database of the successor of the replaced system reports data that the source database lacks', () => {
    const named = report.differences.map(({ what }) => what)
    for (const what of ['chain.abis', 'assets.templates: 20', '__proto__', 'v2_since_block'])
      expect(named).toContainEqual(expect.stringContaining(what))
    expect(report.lacking).toEqual([])
    expect(report.leftOut).toEqual([])
  })

  it('the rows of the import and of later blocks break no rule of verify, and the gap of the source is recorded as accepted', async () => {
    const client = await connectDatabase(target.address, { applicationName: 'test' })
    try {
      expect(await findDerivedViolations(client, 5)).toEqual([])
      const { rows } = await client.query('SELECT accepted_gaps AS gaps FROM chain.imports')
      expect(rows).toEqual([
        { gaps: ['assets.templates has every template_id that the contract has given out: template_id 20'] },
      ])
    } finally {
      await client.end()
    }
  })
})
