import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyText } from '../../services/core/antelope/index.ts'
import { buildQueryIndexes, connectDatabase } from '../../services/core/database/index.ts'
import type { Session, Statement } from '../../services/api/index.ts'
import { readRequest } from '../../services/api/index.ts'
import { jsonString } from '../../services/api/index.ts'
import { createNamespace } from '../../services/api/index.ts'
import type { Endpoint } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** Tables that no request may scan completely. */
const BIG = /^(?:links|logs|blocks|assets)(?:_\d+)?$/

const LINK_COUNT = 20_000
const ASSET_COUNT = 30_000

/** Builds a name from letters and a number; digits that names do not allow are replaced. */
function named(word: string, number: string): string {
  return `'${word}' || translate(${number}::text, '06789', 'abcde')`
}

/** Generates links: some creators and collections have many, most have few. */
const generation = [
  `INSERT INTO assets.collections (collection_name, created_at_time, created_at_block, market_fee, allow_notify, author,
     authorized_accounts, notify_accounts, data)
   SELECT ${named('collect', 'n')}, 0, 1, 0, true, 'author', '{}', '{}', '{}' FROM generate_series(0, 99) n`,
  `INSERT INTO assets.schemas (collection_name, schema_name, created_at_time, created_at_block, format)
   SELECT ${named('collect', 'n')}, 'cards', 0, 1, '[]' FROM generate_series(0, 99) n`,
  `INSERT INTO assets.assets (asset_id, minted_at_time, transferred_at_time, updated_at_time, minted_at_block,
     transferred_at_block, updated_at_block, collection_name, schema_name, owner, minter, initial_receiver)
   SELECT n, 0, 0, 0, 1, 1, 1, ${named('collect', 'floor(sqrt(n % 10000))')}, 'cards', 'owner', 'minter', 'owner'
   FROM generate_series(1, ${ASSET_COUNT}) n`,
  `INSERT INTO tools.links (link_id, created_at_time, updated_at_time, created_at_block, updated_at_block, state,
     has_unknown_assets, creator, claimer, public_key, claimer_signature, memo, asset_ids, collection_names)
   SELECT n, n * 500, n * 500 + (n::bigint * 7919 % 1000) * 500, n, n, n % 4, false, ${named('creator', 'floor(sqrt(n % 2500))')},
     CASE WHEN n % 4 = 3 THEN ${named('claimer', '(n % 300)')} END, $1 || n, CASE WHEN n % 4 = 3 THEN 'SIG' END, '',
     ARRAY[n + 1], ARRAY[${named('collect', 'floor(sqrt((n + 1) % 10000))')}]
   FROM generate_series(1, ${LINK_COUNT}) n`,
  `INSERT INTO tools.link_counts SELECT state, count(*) FROM tools.links GROUP BY state`,
  `SELECT chain.ensure_partition('tools.logs', 1), chain.ensure_partition('tools.blocks', 1)`,
  `INSERT INTO tools.blocks SELECT n * 4, n * 500, n, '{0}', decode(repeat('ab', 32), 'hex') FROM generate_series(1, ${LINK_COUNT}) n`,
  `INSERT INTO tools.logs SELECT n * 4 + k, n, k FROM generate_series(1, ${LINK_COUNT}) n, generate_series(1, 3) k`,
]

const key = keyText('PUB', 0, Buffer.alloc(33, 2))

/** Requests, each with one filter. A count with a filter of `scanningCounts` may scan the table. */
const filters = [
  ...['', 'page=150', 'creator=creatorc', 'creator=creatorc,creator4a', 'creator=nobody', 'claimer=claimer3'],
  ...['state=1', 'state=0,3', `public_key=${key}`, 'asset_id=77', 'asset_id=77,20001,999999'],
  ...['collection_whitelist=collect3', 'collection_whitelist=collectee,collect1', 'ids=5,900', 'link_id=77'],
  ...['lower_bound=19000', 'upper_bound=1000', 'before=5000000', 'after=9000000'],
]
const scanningCounts = ['collection_blacklist=collectee']

let database: TestDatabase
let client: pg.Client
let endpoints: readonly Endpoint[]
beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
  for (const text of generation) await client.query(text, text.includes('$1') ? [key.slice(0, 20)] : [])
  await client.query('UPDATE tools.links SET public_key = $1 WHERE link_id % 5000 = 0', [key])
  await buildQueryIndexes(client, 'tools')
  await client.query('VACUUM ANALYZE')
  // The test tables are so small that PostgreSQL prefers sequential scans. With sequential scans disabled, a sequential
  // scan in a plan shows that no index is usable.
  await client.query('SET enable_seqscan = off')
  const namespaces = [{ name: 'tools', path: '/tools', args: { tools_account: 'atomictoolsx' } }]
  const { config } = parseConfig({ server: { namespaces } })
  endpoints = createNamespace(config.server.namespaces[0]!, { trigrams: true })!.endpoints
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Runs a request, explains each of its statements, and returns the tables that are scanned completely. */
async function scannedBy(
  path: string,
  query: string,
  segments = {},
): Promise<{ scans: string[]; data: unknown }> {
  const scans: string[] = []
  const session: Session = {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      const parameters = { values: [...values], rowMode: 'array' } as const
      const plan = await client.query<[[{ Plan: PlanNode }]]>({
        text: `EXPLAIN (FORMAT JSON) ${text}`,
        ...parameters,
      })
      scans.push(...scannedTables(plan.rows[0]![0][0].Plan))
      return (await client.query<unknown[]>({ text, ...parameters })).rows as unknown as Row[]
    },
    snapshot: (work) => work(),
  }
  const endpoint = endpoints.find((each) => each.path === path)!
  const raw = new Map(new URLSearchParams(query))
  const values = await readRequest(endpoint.parameters, {
    path: segments,
    raw,
    lists: () => Promise.resolve([]),
  })
  const data = await endpoint.run({ session, values, attributes: [] })
  return { data: JSON.parse(jsonString(data)), scans }
}

function scannedTables(node: PlanNode): string[] {
  const table = node['Relation Name'] ?? ''
  const here = node['Node Type'] === 'Seq Scan' && BIG.test(table) ? [table] : []
  return [...here, ...(node.Plans ?? []).flatMap(scannedTables)]
}

describe('no request of the tools namespace scans a big table', () => {
  it.each([...filters, ...scanningCounts])('lists of links with %s scan no big table', async (filter) => {
    for (const sort of ['created', 'updated']) {
      for (const order of ['asc', 'desc']) {
        const query = `${filter}&sort=${sort}&order=${order}`
        const { scans, data } = await scannedBy('/v1/links', query)
        expect([query, scans]).toEqual([query, []])
        expect((data as unknown[]).length > 0).toBe(!filter.includes('nobody'))
      }
    }
  })

  it.each(filters)('counts of links with %s scan no big table', async (filter) => {
    expect((await scannedBy('/v1/links/_count', filter)).scans).toEqual([])
  })

  it('requests for a link by id and for the logs of a link scan no big table', async () => {
    expect((await scannedBy('/v1/links/:link_id', '', { link_id: '77' })).scans).toEqual([])
    const { scans, data } = await scannedBy('/v1/links/:link_id/logs', '', { link_id: '77' })
    expect([scans, (data as unknown[]).length]).toEqual([[], 3])
  })
})
