import { beforeAll, describe, expect, it } from 'vitest'
import type { Session } from '../database/index.ts'
import type { List } from '../planner/index.ts'
import { parseQueryString, readAttributeFilters, readRequest } from '../request/index.ts'
import { transferList } from './assets/lists/transfer-list.ts'
import { transferParameters } from './assets/parameters.ts'
import { listingList } from './market/lists/listing-list.ts'
import { marketTables } from './market/lists/listing-table.ts'
import { listingParameters } from './market/parameters.ts'
import { assetList } from './nft/asset-lists/index.ts'
import { createListReader } from './nft/endpoints/index.ts'
import { pageWindow } from './nft/paging/index.ts'
import { assetListParameters } from './nft/parameters/index.ts'

/** Rows of a table, and the `pg_stats` of its columns: distinct values, and the shares of the most common values. */
type Known = readonly [table: string, rows: number, columns: Readonly<Record<string, Column>>]
interface Column {
  readonly nulls?: number
  readonly distinct: number
  readonly common?: Readonly<Record<string, number>>
  readonly bounds?: readonly number[]
}

/** A database of 1,000,000 assets: a few large and thousands of small collections and accounts. */
const known: readonly Known[] = [
  [
    'assets.assets',
    1_000_000,
    {
      owner: { nulls: 0.1, distinct: 20_000, common: { whale: 0.05 } },
      collection_name: { distinct: 200, common: { large: 0.2, medium: 0.02 } },
      schema_name: { distinct: 300, common: { cards: 0.1 } },
      template_id: { nulls: 0.05, distinct: 5_000, common: { 7: 0.03 } },
      template_mint: { nulls: 0.05, distinct: 30_000, bounds: [1, 10, 100, 1_000, 30_000] },
      asset_id: { distinct: -1, bounds: [1, 250_000, 500_000, 750_000, 1_000_000] },
      updated_at_time: { distinct: -1, bounds: [0, 1_000, 2_000, 3_000, 4_000] },
    },
  ],
  ['assets.schemas', 400, { collection_name: { distinct: 200 }, schema_name: { distinct: 300 } }],
  ['assets.templates', 5_000, { collection_name: { distinct: 200 }, schema_name: { distinct: 300 } }],
  [
    'assets.transfers',
    3_000_000,
    {
      sender: { distinct: 20_000, common: { whale: 0.05 } },
      recipient: { distinct: 20_000, common: { whale: 0.05 } },
      transfer_id: { distinct: -1, bounds: [1, 1_500_000, 3_000_000] },
    },
  ],
  [
    'market.sales',
    400_000,
    {
      state: { distinct: 4, common: { 1: 0.1, 2: 0.3, 3: 0.6 } },
      seller: { distinct: 10_000, common: { whale: 0.05 } },
      collection_name: { distinct: 200, common: { large: 0.2, medium: 0.02 } },
      template_id: { nulls: 0.05, distinct: 5_000, common: { 7: 0.03 } },
      name: { nulls: 0.02, distinct: 5_000 },
      price: { nulls: 0.02, distinct: 10_000, bounds: [1, 100, 10_000, 1_000_000] },
    },
  ],
]

const rows = known.flatMap(([table, count, columns]) =>
  Object.entries(columns).map(([column, { nulls = 0, distinct, common, bounds }]) => [
    ...[table, count, column, nulls, distinct],
    common ? `{${Object.keys(common).join(',')}}` : null,
    common ? `{${Object.values(common).join(',')}}` : null,
    bounds ? `{${bounds.join(',')}}` : null,
  ]),
)
/**
 * Answers the query that reads PostgreSQL's statistics, and refuses every other query: a list with a further query
 * cannot be tested in this file.
 */
const session = {
  query: ({ name }: { readonly name?: string }) =>
    name === 'list-statistics' ? Promise.resolve(rows) : Promise.reject(new Error('no database')),
} as unknown as Session

const lists = createListReader(marketTables)
const listNames = { find: () => Promise.resolve(undefined) }
const parameters = {
  assets: assetListParameters(1_000),
  transfers: transferParameters(1_000),
  sales: listingParameters(1_000, 'sale_id', { states: '' }),
}
const families = ['data', 'template_data', 'immutable_data', 'mutable_data'] as const

beforeAll(() => lists.statistics.refresh(session))

/** The plan of the first page of a request, such as `assets?owner=alice`. */
async function planOf(request: string): Promise<string> {
  const [name, query] = request.split('?') as [keyof typeof parameters, string]
  const raw = parseQueryString(query)!
  const attributes = readAttributeFilters(raw, families)
  const read = <P extends (typeof parameters)[keyof typeof parameters]>(of: P) =>
    readRequest(of, { raw, lists: listNames as never })
  let list: List
  let values
  if (name === 'assets') {
    values = await read(parameters.assets)
    list = (await assetList(lists, true, { session, values, attributes })).list
  } else if (name === 'transfers') {
    values = await read(parameters.transfers)
    list = await transferList(lists, session, values)
  } else {
    values = await read(parameters.sales)
    const setup = { trigrams: true, clock: () => 0, lists }
    list = await listingList({ session, values, attributes }, setup, { kind: 'sale' })
  }
  const { keys, isFixed, reason } = lists.plan(list, pageWindow(values))!
  return `${reason}\n${isFixed ? 'prepared' : 'planned for its values'}\n${keys.render().text}`
}

describe('the plan of a page', () => {
  it.each([
    'assets?limit=10',
    'assets?owner=alice',
    'assets?owner=whale&sort=updated',
    'assets?collection_name=large',
    'assets?collection_name=medium&schema_name=cards',
    'assets?collection_name=medium&owner=alice',
    'assets?collection_name=large&sort=template_mint',
    'assets?collection_name=large&sort=template_mint&order=asc',
    'assets?collection_name=medium&sort=name',
    'assets?template_id=7,8,9&sort=updated',
    'assets?immutable_data.level=4&sort=updated',
    'transfers?account=alice',
    'transfers?account=whale&limit=10',
    'sales?state=1&limit=10',
    'sales?state=1&collection_name=large&sort=name',
    'sales?seller=alice&state=1,3',
    'sales?template_id=7&state=1&sort=updated',
  ])('the plan of the page of %s is the recorded one', async (request) => {
    expect(await planOf(request)).toMatchSnapshot()
  })
})
