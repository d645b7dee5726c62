import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildQueryIndexes, connectDatabase } from '../../services/core/database/index.ts'
import { createAssetsNamespace } from '../../services/api/namespaces/assets/index.ts'
import { readAttributeFilters, validateParameters } from '../../services/api/endpoint/index.ts'
import type { Session, Statement } from '../../services/api/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { generateRows, manyRows } from './generated-rows.ts'

/** Tables that no request may walk from end to end. */
const BIG = [
  'assets',
  'logs',
  'blocks',
  'transfers',
  'transactions',
  'offers',
  'open_offer_assets',
  'accounts',
]

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await generateRows(client, manyRows)
  await buildQueryIndexes(client, 'assets')
  await client.query('VACUUM ANALYZE')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const maximum = 1_000
const namespace = createAssetsNamespace({
  contract: 'atomicassets',
  limits: {
    assets: maximum,
    accounts: maximum,
    collections: maximum,
    schemas: maximum,
    templates: maximum,
    offers: 100,
    transfers: 100,
    burns: maximum,
    logs: 100,
  },
  trigrams: false,
})

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  Plans?: PlanNode[]
}

/** Runs a request and returns the big tables that its statements scan. */
async function scansOf(
  path: string,
  query: string,
  segments: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const scans: string[] = []
  const session: Session = {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      const explained = await client.query<[[{ Plan: PlanNode }]]>({
        text: `EXPLAIN (FORMAT JSON) ${text}`,
        values: [...values],
        rowMode: 'array',
      })
      scans.push(...bigScans(explained.rows[0]![0][0].Plan))
      const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
      return rows as unknown as Row[]
    },
  }
  const endpoint = namespace.endpoints.find((each) => each.path === path)!
  const raw = new Map(new URLSearchParams(query))
  const values = await validateParameters(endpoint.parameters, segments, raw, () => Promise.resolve([]))
  const attributes = readAttributeFilters(raw, endpoint.attributes ?? [])
  const data: unknown = JSON.parse(await endpoint.run({ session, values, attributes }))
  if (Array.isArray(data)) expect([path, query, data.length > 0]).toEqual([path, query, true])
  return scans
}

function bigScans(node: PlanNode): string[] {
  const table = node['Relation Name']?.replace(/_\d+$/, '') ?? ''
  const here = node['Node Type'] === 'Seq Scan' && BIG.includes(table) ? [table] : []
  return [...here, ...(node.Plans ?? []).flatMap(bigScans)]
}

const requests: Readonly<Record<string, readonly string[]>> = {
  '/v1/assets': [
    '',
    'order=asc',
    'sort=updated',
    'sort=updated&order=asc',
    'sort=transferred',
    'page=500',
    'owner=owner15',
    'owner=owner15,owner13',
    'collection_name=col15',
    'collection_name=col15,col13',
    'collection_name=col15&schema_name=schema1',
    'template_id=77',
    'template_id=77,78',
    'asset_id=1099511627777,1099511627778',
    'ids=1099511627777',
    'lower_bound=1099511700000',
    'upper_bound=1099511700000',
    'before=1610000100000',
    'after=1610000100000',
    'burned=true',
    'burned=false',
    'data.rarity=rare',
    'data:number.level=7',
    'match=number 77',
    'collection_whitelist=col15,col13',
    'collection_blacklist=col15',
    'authorized_account=author15',
    'hide_offers=true',
    'is_transferable=false',
  ],
  '/v1/assets/_count': ['', 'burned=true', 'collection_name=col15', 'template_id=77', 'owner=owner15'],
  '/v1/accounts': ['', 'page=10', 'owner=owner15', 'collection_name=col15', 'template_id=77'],
  '/v1/burns': ['', 'burner=burner', 'collection_name=col22', 'template_id=41', 'match_owner=burn'],
  '/v1/collections': ['', 'sort=collection_name', 'author=author15'],
  '/v1/schemas': ['', 'sort=schema_name', 'sort=assets', 'collection_name=col15'],
  '/v1/templates': [
    '',
    'sort=name',
    'order=asc',
    'collection_name=col15',
    'data.rarity=rare',
    'has_assets=true',
  ],
  '/v1/offers': [
    '',
    'order=asc',
    'sort=updated',
    'sender=owner15',
    'recipient=owner15',
    'account=owner15',
    'asset_id=1099511627777',
    'after=1620000100000',
    'state=0',
  ],
  '/v1/transfers': [
    '',
    'order=asc',
    'page=100',
    'sender=owner15',
    'recipient=owner13',
    'account=owner15',
    'account=owner15,owner13',
    'collection_name=col15',
    'asset_id=1099511627784',
    'before=1610000100000',
    'after=1610000100000',
  ],
}

/** Segments of the paths of single answers. */
const segments: Readonly<Record<string, string>> = {
  account: 'owner15',
  asset_id: '1099511627781',
  collection_name: 'col13',
  schema_name: 'schema2',
  template_id: '112',
  offer_id: '77',
}

describe('plans', () => {
  for (const [path, queries] of Object.entries(requests)) {
    it(`of ${path} walk no big table`, async () => {
      const scans: Record<string, string[]> = {}
      for (const query of queries) {
        const found = await scansOf(path, query)
        if (found.length > 0) scans[query] = found
      }
      expect(scans).toEqual({})
    })
  }

  const details = namespace.endpoints.map(({ path }) => path).filter((path) => path.includes('/:'))
  it.each(details)('of %s walk no big table', async (path) => {
    expect(await scansOf(path, '', path.startsWith('/v1/burns/') ? { account: 'burner' } : segments)).toEqual(
      [],
    )
  })

  it('would show a walk over a big table', async () => {
    const { rows } = await client.query<[[{ Plan: PlanNode }]]>({
      text: "EXPLAIN (FORMAT JSON) SELECT 1 FROM assets.assets WHERE ram_payer = 'x'",
      rowMode: 'array',
    })
    expect(bigScans(rows[0]![0][0].Plan)).toEqual(['assets'])
  })
})
