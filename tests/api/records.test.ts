import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { raw, sql } from '../../services/api/sql/sql.ts'
import type { Session, Statement } from '../../services/api/index.ts'
import type { Sql } from '../../services/api/sql/sql.ts'
import { jsonString } from '../../services/api/index.ts'
import type { Json } from '../../services/api/json/json.ts'
import { joinDataMap, overlayDataMap, splitDataMap } from '../../services/api/json/json.ts'
import type { PagePlan } from '../../services/api/planner/list.ts'
import { assetsRecordKinds } from '../../services/api/namespaces/assets/records/kinds.ts'
import { assets } from '../../services/api/namespaces/nft/records/index.ts'
import { Fragments } from '../../services/api/records/fragments/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

let server: TestServer
let client: pg.Client
let statements: Statement[] = []
const session: Session = {
  async query<Row extends readonly unknown[]>(statement: Statement): Promise<Row[]> {
    statements.push(statement)
    const { rows } = await client.query<unknown[]>({
      ...statement,
      values: [...statement.values],
      rowMode: 'array',
    })
    return rows as unknown as Row[]
  },
  snapshot: (work) => work(),
}
beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'])
  client = await connectDatabase(server.database.address, { applicationName: 'test' })
})
afterAll(async () => {
  await client.end()
  await server.close()
})

/** `data` of the REST answer below the namespace. */
async function rest(path: string): Promise<unknown> {
  return (await server.get(path)).body.data
}

const parsed = (records: Iterable<Json>): unknown[] =>
  [...records].map((record) => JSON.parse(jsonString(record)) as unknown)
const createKinds = (shared = new Fragments()) =>
  assetsRecordKinds(shared, { given: { contract: '"atomicassets"' } }, assets)
/** Counts the SQL statements that `work` runs. */
async function countStatements(work: () => Promise<unknown>): Promise<number> {
  statements = []
  await work()
  return statements.length
}
const pageOf = (keys: Sql, isFixed = true): PagePlan => ({
  ...{ keys, isFixed, reason: 'test' },
  again: () => {
    throw new Error('the page is unknown')
  },
})
const newest = (table: string, key: string, limit = 50, order = `${key} DESC`) =>
  raw(`SELECT ${key} AS k, row_number() OVER (ORDER BY ${order}) AS n
    FROM assets.${table} ORDER BY ${order} LIMIT ${limit}`)

describe('a page of records', () => {
  const pages = {
    asset: ['assets', 'asset_id', '/v1/assets?sort=asset_id&order=desc&limit=50'],
    template: ['templates', 'template_id', '/v1/templates?order=desc&limit=50&include_deleted=true'],
    offer: ['offers', 'offer_id', '/v1/offers?order=desc&limit=50'],
    transfer: ['transfers', 'transfer_id', '/v1/transfers?order=desc&limit=50'],
  } as const
  it.each(Object.entries(pages))(
    'reading a page of %s records takes one statement, plus one for missing fragments and one for keys that are read separately',
    async (name, [table, key, path]) => {
      const kind = createKinds()[name as keyof typeof pages]
      const order = name === 'offer' ? 'created_at_time DESC, offer_id' : `${key} DESC`
      const read = (isFixed = true) => kind.readPage(session, pageOf(newest(table, key, 50, order), isFixed))
      expect(await countStatements(read)).toBe(2)
      expect(await countStatements(read)).toBe(1)
      expect(await countStatements(() => read(false))).toBe(2)
      const shown = parsed(await read())
      expect(shown.length).toBeGreaterThan(5)
      expect(shown).toEqual(await rest(path))
      expect(parsed(await read(false))).toEqual(shown)
    },
  )

  it('a page of records has the order of its keys and omits keys without a record', async () => {
    const { asset } = createKinds()
    const { rows } = await client.query<{ id: string }>(
      'SELECT asset_id::text AS id FROM assets.assets ORDER BY asset_id LIMIT 2',
    )
    const [first, second] = rows.map(({ id }) => raw(id))
    const page = sql`SELECT k, n FROM (VALUES (${first!}, 3), (${second!}, -1), (1, 2)) p(k, n)`
    for (const isFixed of [true, false]) {
      const records = await asset.readPage(session, pageOf(page, isFixed))
      const ids = parsed(records).map((each) => (each as { asset_id: string }).asset_id)
      expect(ids).toEqual([rows[1]!.id, rows[0]!.id])
    }
  })

  it('if a page query exceeds the row budget, the query of the next plan returns the page, which may be empty', async () => {
    const { asset, transfer } = createKinds()
    for (const [kind, isFixed] of [asset, transfer].flatMap((each) => [
      [each, true] as const,
      [each, false] as const,
    ])) {
      const gaveUp = sql`(${newest('assets', 'asset_id', 5)}) UNION ALL SELECT NULL, 6`
      const none = pageOf(newest('assets', 'asset_id', 0), isFixed)
      const hits: number[] = []
      const again = (seen: number): PagePlan => {
        hits.push(seen)
        return none
      }
      expect(await kind.readPage(session, { ...pageOf(gaveUp, isFixed), again })).toEqual([])
      expect(hits).toEqual([6])
      expect(await kind.readPage(session, none)).toEqual([])
    }
  })
})

it('reading a record by its key takes one statement, and one more if fragments are missing', async () => {
  const { asset } = createKinds()
  const { rows } = await client.query<{ id: string }>(
    'SELECT asset_id::text AS id FROM assets.assets LIMIT 1',
  )
  const read = () => asset.readKeys(session, [rows[0]!.id])
  expect(await countStatements(read)).toBe(2)
  expect(await countStatements(read)).toBe(1)
  expect(parsed((await read()).values())).toEqual([await rest(`/v1/assets/${rows[0]!.id}`)])
  expect((await asset.readKeys(session, ['1'])).size).toBe(0)
})

it('without a cache of fragments, reading a page always takes two statements', async () => {
  const { template } = createKinds(new Fragments({ isCaching: false }))
  const read = () => template.readPage(session, pageOf(newest('templates', 'template_id')))
  expect([await countStatements(read), await countStatements(read)]).toEqual([2, 2])
})

it('attribute maps are merged as PostgreSQL merges them with ||', async () => {
  const text = fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll('\0', ''))
  const scalar = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.constantFrom(null, true))
  const key = fc.oneof(fc.constantFrom('a', 'b', 'name', 'ab', 'ä', '"', '\\', '\n', '', '日本'), text)
  const map = fc.uniqueArray(fc.tuple(key, value), { maxLength: 6, selector: ([name]) => name })
  await fc.assert(
    fc.asyncProperty(map, map, async (below, above) => {
      const jsons = [below, above].map((entries) => JSON.stringify(Object.fromEntries(entries)))
      const { rows } = await client.query<string[]>({
        text: 'SELECT a::text, b::text, (a || b)::text FROM (SELECT $1::jsonb AS a, $2::jsonb AS b) v',
        values: jsons,
        rowMode: 'array',
      })
      const [one, other, both] = rows[0] as [string, string, string]
      expect(joinDataMap(splitDataMap(one))).toBe(one)
      expect(joinDataMap(overlayDataMap(splitDataMap(one), splitDataMap(other)))).toBe(both)
    }),
    { numRuns: 300 },
  )
})
