import type { AssetCondition, AssetRow, ListingRow, ListingTable, TrafficRows } from './rows.ts'

/** One kind of request, as clients send it. */
export interface TrafficKind {
  /** What is requested, unique among all kinds. */
  readonly name: string
  /**
   * Address of one request, for example `/assets/v1/assets?owner=…`, with the values of a row picked at random.
   * @param index of the sample, from 0.
   */
  readonly address: (rows: TrafficRows, index: number) => Promise<string>
}

/** Parameters of a query string. */
export type Query = Readonly<Record<string, string | number | boolean>>

/** Path and query string. */
export function addressOf(path: string, query: Query = {}): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return text.size === 0 ? path : `${path}?${text.toString()}`
}

/** A kind that asks with the values of an asset. */
export function ofAsset(
  name: string,
  condition: AssetCondition,
  address: (asset: AssetRow, rows: TrafficRows, index: number) => string,
): TrafficKind {
  return { name, address: async (rows, index) => address(await rows.asset(condition), rows, index) }
}

/** A kind that asks with the values of a listing. @param states the listing has one of them. */
export function ofListing(
  name: string,
  table: ListingTable,
  states: readonly number[],
  address: (listing: ListingRow, rows: TrafficRows, index: number) => string,
): TrafficKind {
  return { name, address: async (rows, index) => address(await rows.listing(table, states), rows, index) }
}
