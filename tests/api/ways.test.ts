import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { benchNamespaces } from '../../scripts/bench/families.ts'
import { generateDatabase, scaledSizes } from '../../scripts/bench/generated/index.ts'
import {
  addressOf,
  answerOf,
  fewerCases,
  pickExamples,
  requestCases,
} from '../../scripts/bench/requests/index.ts'
import type { RequestCase } from '../../scripts/bench/requests/index.ts'
import type { Endpoint } from '../../services/api/endpoint/index.ts'
import type { Session, Statement } from '../../services/api/database/index.ts'
import { createNamespace } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

/** What the planner says that a statement finds, as the api is told it. */
type Told = (rows: number, text: string) => number

/** Nothing but these estimates decides how a list is read. */
const WAYS: Readonly<Record<string, Told>> = {
  'where next to nothing is expected': () => 1,
  'where a few thousand rows are expected': () => 5_000,
  'where very much is expected': (rows) => rows * 1_000_000,
}

/** The same where filters on mutable attributes are answered through what assets say. */
const FEW_TEXTS: Readonly<Record<string, Told>> = {
  'where some thousand of a million assets are expected, that say few things': (_, text) => {
    if (text.includes('DISTINCT a.mutable_digest')) return 100
    return text.trimEnd().endsWith('FROM assets.assets a') ? 1_000_000 : 5_000
  },
}

function waysOf({ query }: RequestCase): [way: string, told: Told][] {
  const asksTexts = Object.keys(query).some((name) => name.startsWith('mutable_data'))
  return Object.entries(asksTexts ? { ...WAYS, ...FEW_TEXTS } : WAYS)
}

/** A node of a plan as EXPLAIN tells it. */
type PlanRow = [[{ Plan: { 'Plan Rows': number } }]]

function sessionOf(client: pg.Client, told: Told): Session {
  return {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
      if (text.startsWith('EXPLAIN')) {
        const plan = (rows as PlanRow[])[0]![0][0].Plan
        plan['Plan Rows'] = told(plan['Plan Rows'], text)
      }
      return rows as unknown as Row[]
    },
  }
}

const LISTS = {
  market: [
    ...['/v2/sales', '/v1/sales/templates', '/v1/auctions', '/v1/buyoffers', '/v1/template_buyoffers'],
    ...['/v1/assets', '/v1/prices/assets', '/v1/royalties/payouts'],
  ],
} as const
const lists = Object.entries(LISTS).flatMap(([family, paths]) => paths.map((path) => ({ family, path })))

/** Lists without a number of all. */
const NOT_COUNTED: ReadonlySet<string> = new Set([
  '/v1/sales/templates',
  '/v1/prices/assets',
  '/v1/royalties/payouts',
])
/** Pairs of filters that each list is asked with. */
const PAIRS = 60

/** One of the two directions of each list, not the same under all filters. */
function isAsked({ order, filter }: RequestCase): boolean {
  return order === '' || order === (filter.length % 2 === 0 ? 'asc' : 'desc')
}

let database: TestDatabase
let client: pg.Client
let cases: Readonly<Record<string, readonly RequestCase[]>>
let endpoints: Readonly<Record<string, readonly Endpoint[]>>
beforeAll(async () => {
  database = await createTestDatabase()
  await generateDatabase(database.address, scaledSizes(0.02), 'ways')
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query('SET jit = off; SET random_page_cost = 1.1')
  const examples = await pickExamples(client)
  endpoints = Object.fromEntries(
    Object.keys(LISTS).map((family) => {
      const { config } = parseConfig({ server: { namespaces: benchNamespaces(family) } })
      const namespaces = config.server.namespaces
      return [
        family,
        namespaces.flatMap((entry) => createNamespace(entry, { trigrams: true })?.endpoints ?? []),
      ]
    }),
  )
  cases = Object.fromEntries(
    Object.entries(endpoints).map(([family, each]) => [
      family,
      fewerCases(requestCases(each, examples).filter(isAsked)),
    ]),
  )
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

describe('how a list is read does not change what it shows', () => {
  it.each(lists)('$family $path', async ({ family, path }) => {
    // The market reads assets as the assets namespace does, but for their prices.
    const isPriced = family === 'market' && path === '/v1/assets'
    const requests = cases[family]!.filter(
      ({ endpoint, sort }) => endpoint.path === path && (!isPriced || sort.endsWith('_price')),
    )
    expect(requests).not.toEqual([])
    let shown = 0
    for (const request of requests) {
      const asPlanned = await answerOf(
        sessionOf(client, (rows) => rows),
        request,
      )
      if (asPlanned.length > 2) shown++
      for (const [way, told] of waysOf(request)) {
        const answer = await answerOf(sessionOf(client, told), request)
        expect([addressOf(request), way, answer === asPlanned]).toEqual([addressOf(request), way, true])
      }
    }
    expect(shown).toBeGreaterThan(requests.length / 4)
  })

  it('templates that are hidden, beside filters of templates, in the order of mint numbers', async () => {
    const list = endpoints['market']!.find(({ path }) => path === '/v2/sales')!
    const counter = endpoints['market']!.find(({ path }) => path === '/v2/sales/_count')!
    const ofTemplates = new Set(['data', 'template_data', 'search', 'template_id'])
    const requests = cases['market']!.filter(
      ({ endpoint, filter }) => endpoint === list && ofTemplates.has(filter),
    )
    // Those of most templates are hidden.
    const { rows } = await client.query<{ owners: string }>(`SELECT string_agg(o.owner, ',') AS owners FROM (
      SELECT a.owner FROM assets.assets a WHERE a.owner IS NOT NULL GROUP BY 1
      ORDER BY count(DISTINCT a.template_id) DESC LIMIT 3) o`)
    const session = sessionOf(client, (planned) => planned)
    const hides = { hide_templates_by_accounts: rows[0]!.owners, sort: 'template_mint' }
    // A filter that is lost beside these would show.
    expect((await answerOf(session, { ...requests[0]!, query: hides })).length).toBeGreaterThan(2)
    for (const request of requests) {
      const query = { ...request.query, ...hides }
      const shown = JSON.parse(await answerOf(session, { ...request, query })) as unknown[]
      const counted = await answerOf(session, { ...request, query, endpoint: counter })
      expect([query, shown.length]).toEqual([query, Math.min(Number(JSON.parse(counted)), 100)])
    }
    expect(requests.length).toBeGreaterThan(3)
  })

  it.each(lists.filter(({ path }) => !NOT_COUNTED.has(path)))(
    'two filters at once: $family $path',
    async ({ family, path }) => {
      const random = createRandom(path.length)
      const requests = cases[family]!.filter(
        ({ endpoint, filter, sort }) => endpoint.path === path && filter !== '' && sort !== 'updated',
      )
      const pick = () => requests[random.between(0, requests.length - 1)]!
      const counter = endpoints[family]!.find((endpoint) => endpoint.path === `${path}/_count`)!
      let shown = 0
      for (let at = 0; at < PAIRS; at++) {
        const [one, other] = [pick(), pick()]
        const pair = { ...one, query: { ...other.query, ...one.query } }
        const asPlanned = await answerOf(
          sessionOf(client, (rows) => rows),
          pair,
        )
        // Such a pair is refused.
        if (asPlanned === '') continue
        for (const [way, told] of waysOf(pair))
          expect([addressOf(pair), way, await answerOf(sessionOf(client, told), pair)]).toEqual([
            addressOf(pair),
            way,
            asPlanned,
          ])
        const number = (JSON.parse(asPlanned) as unknown[]).length
        for (const told of [(rows: number) => rows, WAYS['where very much is expected']!]) {
          const counted = await answerOf(sessionOf(client, told), { ...pair, endpoint: counter })
          const count = Number(JSON.parse(counted))
          expect([addressOf(pair), Math.min(count, 100)]).toEqual([addressOf(pair), number])
        }
        if (number > 0) shown++
      }
      expect(shown).toBeGreaterThan(PAIRS / 10)
    },
  )
})
