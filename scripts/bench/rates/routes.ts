import type pg from 'pg'
import type { Random } from '../generated/choice.ts'

/** A route whose request rate is measured. */
export interface RateRoute {
  readonly name: string
  /** Target rate, as a ratio to the plain server's rate. */
  readonly wanted: number
  /** Table from which rows are sampled at random by key, so that values follow their frequency. */
  readonly table: string
  readonly key: string
  /** Condition of the rows, and SQL expressions whose values the URL contains. */
  readonly condition: string
  readonly values: readonly string[]
  /**
   * Builds the URL from the values.
   * @param limit page size. Lists use 81 to 100, so that a repeated value gets another URL.
   */
  readonly address: (values: readonly string[], limit: number) => string
  readonly isList: boolean
}

const assets = { table: 'assets.assets', key: 'asset_id', condition: 'owner IS NOT NULL' } as const
const templated = { ...assets, condition: 'owner IS NOT NULL AND template_id IS NOT NULL' } as const

/** Measured routes, in the order of the printed table. */
export const rateRoutes: readonly RateRoute[] = [
  {
    ...{ name: 'asset by id', wanted: 0.3, isList: false },
    ...{ ...assets, condition: 'true', values: ['asset_id'] },
    address: ([id]) => `/assets/v1/assets/${id ?? ''}`,
  },
  {
    ...{ name: 'assets of a template, 100', wanted: 0.035, isList: true },
    ...{ ...templated, values: ['template_id'] },
    address: ([template], limit) => `/assets/v1/assets?template_id=${template ?? ''}&limit=${limit}`,
  },
  {
    ...{ name: 'assets of an owner, 100', wanted: 0.035, isList: true },
    ...{ ...assets, values: ['owner'] },
    address: ([owner], limit) => `/assets/v1/assets?owner=${owner ?? ''}&limit=${limit}`,
  },
  {
    ...{ name: 'open sales of a collection by price, 100', wanted: 0.03, isList: true },
    ...{ table: 'market.sales', key: 'sale_id', condition: 'state = 1', values: ['collection_name'] },
    address: ([collection], limit) =>
      `/market/v1/sales?state=1&collection_name=${collection ?? ''}&sort=price&order=asc&limit=${limit}`,
  },
  {
    ...{ name: 'transfers of an account, 100', wanted: 0.015, isList: true },
    ...{ table: 'assets.transfers', key: 'transfer_id', condition: 'true', values: ['sender'] },
    address: ([account], limit) => `/assets/v1/transfers?account=${account ?? ''}&limit=${limit}`,
  },
  {
    ...{ name: 'count of assets by owner and template', wanted: 0.25, isList: false },
    ...{ ...templated, values: ['owner', 'template_id'] },
    address: ([owner, template]) =>
      `/assets/v1/assets/_count?owner=${owner ?? ''}&template_id=${template ?? ''}`,
  },
  {
    ...{ name: 'accounts by template, 100', wanted: 0.25, isList: true },
    ...{ ...templated, values: ['template_id'] },
    address: ([template], limit) => `/assets/v1/accounts?template_id=${template ?? ''}&limit=${limit}`,
  },
]

const MOST_LIMIT = 100
const LEAST_LIMIT = 81
/** Number of random keys for which one SQL statement reads rows. */
const BATCH = 5_000

/**
 * Picks distinct URLs of a route. Values come from sampled rows, so more URLs contain a frequent value than a rare
 * value.
 * @param count number of sampled rows.
 */
export async function pickAddresses(
  client: pg.ClientBase,
  route: RateRoute,
  random: Random,
  count: number,
): Promise<string[]> {
  const addresses = new Set<string>()
  for (const values of await pickRows(client, route, random, count)) {
    const address = newAddress(route, values, addresses)
    if (address !== undefined) addresses.add(address)
  }
  return [...addresses]
}

/**
 * Picks URLs of a route. URLs repeat: sampled rows with equal values give equal URLs.
 * @param count number of sampled rows.
 */
export async function pickRepeatedAddresses(
  client: pg.ClientBase,
  route: RateRoute,
  random: Random,
  count: number,
): Promise<string[]> {
  const rows = await pickRows(client, route, random, count)
  return rows.map((values) => route.address(values, MOST_LIMIT))
}

/** Values of randomly sampled rows. */
async function pickRows(
  client: pg.ClientBase,
  route: RateRoute,
  random: Random,
  count: number,
): Promise<string[][]> {
  const { table, key } = route
  const range = await client.query<{ least: string; most: string }>(
    `SELECT min(${key})::text AS least, max(${key})::text AS most FROM ${table}`,
  )
  const [least, most] = [Number(range.rows[0]!.least), Number(range.rows[0]!.most)]
  const picked: string[][] = []
  for (let done = 0; done < count; done += BATCH) {
    const keys = Array.from({ length: Math.min(BATCH, count - done) }, () =>
      String(least + Math.floor(random.fraction() * (most - least + 1))),
    )
    picked.push(...(await pickValues(client, route, keys)))
  }
  return picked
}

async function pickValues(
  client: pg.ClientBase,
  { table, key, condition, values }: RateRoute,
  keys: readonly string[],
): Promise<string[][]> {
  const { rows } = await client.query<string[]>({
    text: `SELECT x.* FROM unnest($1::bigint[]) WITH ORDINALITY k(key, place) CROSS JOIN LATERAL
        (SELECT ${values.map((value) => `${value}::text`).join(', ')} FROM ${table} r
          WHERE r.${key} >= k.key AND ${condition} ORDER BY r.${key} LIMIT 1) x
      ORDER BY k.place`,
    values: [keys],
    rowMode: 'array',
  })
  return rows
}

/** A URL with these values that was not picked yet; undefined if there is none. */
function newAddress(
  route: RateRoute,
  values: readonly string[],
  picked: ReadonlySet<string>,
): string | undefined {
  for (let limit = MOST_LIMIT; limit >= (route.isList ? LEAST_LIMIT : MOST_LIMIT); limit--) {
    const address = route.address(values, limit)
    if (!picked.has(address)) return address
  }
  return undefined
}
