import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

type Attributes = Readonly<Record<string, unknown>>

interface ListedAsset {
  readonly asset_id: string
  readonly immutable_data: Attributes | null
  readonly mutable_data: Attributes | null
  readonly template: { readonly immutable_data: Attributes; readonly mutable_data: Attributes } | null
}

type Listing = Readonly<Record<string, string>> & { readonly assets: readonly ListedAsset[] }

/**
 * Attribute maps of a listed asset that each filter prefix searches: `template_data.rarity` searches both maps of the
 * template.
 */
const layers = {
  data: ({ template }: ListedAsset) => [template?.immutable_data, template?.mutable_data],
  template_data: ({ template }: ListedAsset) => [template?.immutable_data, template?.mutable_data],
  immutable_data: (asset: ListedAsset) => [asset.immutable_data],
  mutable_data: (asset: ListedAsset) => [asset.mutable_data],
} as const

type Family = keyof typeof layers
const families = Object.keys(layers) as Family[]

const lists = [
  ['/market/v2/sales', 'sale_id', '&state=1,2,3,4'],
  ['/market/v1/sales', 'sale_id', '&state=1,2,3,4'],
  ['/market/v0/sales', 'sale_id', ''],
  ['/market/v1/auctions', 'auction_id', ''],
  ['/market/v1/buyoffers', 'buyoffer_id', ''],
] as const

let server: TestServer
beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'], { everything: true })
})
afterAll(() => server.close())

async function get<T>(path: string): Promise<T> {
  const { status, body } = await ask(server.api.url + path)
  expect([path, status]).toEqual([path, 200])
  return body.data as T
}

/**
 * Attributes that a filter prefix can find, as pairs [name, value]. Each attribute name has at most two pairs: one with
 * a short text, and one with a number.
 */
function valuesOf(assets: readonly ListedAsset[], family: Family): Map<string, readonly [string, unknown]> {
  const found = new Map<string, readonly [string, unknown]>()
  for (const attributes of assets.flatMap(layers[family]))
    for (const [key, value] of Object.entries(attributes ?? {}))
      if (typeof value === 'number' || (typeof value === 'string' && value.length < 60))
        found.set(`${key} ${typeof value}`, [key, value])
  return found
}

describe.each(lists)('filters on attributes of %s', (path, key, further) => {
  it('attribute filters match text values with the suffix :text, number values with :number, and both without a suffix', async () => {
    const page = `${path}?limit=100&sort=${key}&order=desc${further}`
    const all = await get<Listing[]>(page)
    // `lower_bound` excludes listings after the first page, because the test knows only the listings of that page.
    const whole = `${page}&lower_bound=${all.at(-1)![key]!}`
    const ids = (rows: readonly Listing[]) => rows.map((row) => row[key])
    const matching = (family: Family, name: string, value: unknown) =>
      all.filter(({ assets }) =>
        assets.some((asset) => layers[family](asset).some((each) => each?.[name] === value)),
      )
    let numbers = 0
    for (const family of families) {
      for (const [name, value] of valuesOf(
        all.flatMap(({ assets }) => assets),
        family,
      ).values()) {
        const text = encodeURIComponent(String(value))
        const find = async (typing: string): Promise<(string | undefined)[]> => {
          const filter = `${family}${typing}.${encodeURIComponent(name)}=${text}`
          return ids(await get<Listing[]>(`${whole}&${filter}`))
        }
        const asNumber = typeof value === 'number' ? value : undefined
        const expected = ids(matching(family, name, value))
        expect(expected.length).toBeGreaterThan(0)
        const place = `${family}.${name}=${String(value)}`
        if (asNumber === undefined) expect([place, await find(':text')]).toEqual([place, expected])
        else {
          numbers++
          expect([place, await find(':number')]).toEqual([place, expected])
        }
        // A filter without `:text` or `:number` matches values of both types.
        const untyped = all.filter(
          (row) =>
            matching(family, name, String(value)).includes(row) ||
            matching(family, name, Number(value)).includes(row),
        )
        expect([place, await find('')]).toEqual([place, ids(untyped)])
      }
    }
    expect(numbers).toBeGreaterThan(0)
  })
})

it('an attribute filter on sales finds every sale of an asset that the same filter on assets finds', async () => {
  const page = '/market/v2/sales?limit=100&sort=sale_id&order=desc&state=1,2,3,4'
  const sales = await get<Listing[]>(page)
  const whole = `${page}&lower_bound=${sales.at(-1)!.sale_id!}`
  for (const family of families) {
    for (const [name, value] of valuesOf(
      sales.flatMap(({ assets }) => assets),
      family,
    ).values()) {
      const typing = typeof value === 'number' ? ':number' : ''
      const filter = `${family}${typing}.${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`
      const assets = await get<ListedAsset[]>(`/assets/v1/assets?limit=1000&${filter}`)
      const found = new Set(assets.map(({ asset_id: id }) => id))
      const expected = sales.filter(({ assets: own }) => own.some(({ asset_id: id }) => found.has(id)))
      const shown = await get<Listing[]>(`${whole}&${filter}`)
      // The filter on sales finds more assets: on sales a numeric text also matches numbers, on assets it does not.
      const ids = shown.map((row) => row.sale_id)
      expect(ids).toEqual(expect.arrayContaining(expected.map((row) => row.sale_id)))
    }
  }
})
