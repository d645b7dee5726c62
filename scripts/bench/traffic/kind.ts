import type { AssetCondition, AssetRow, ListingRow, ListingTable, TrafficRows } from './rows.ts'

/** A kind of request, as clients send it. */
export interface TrafficKind {
  /** Description of the request; unique among all kinds of request. */
  readonly name: string
  /**
   * Builds the URL of a request from randomly picked rows, for example `/assets/v1/assets?owner=…`.
   * @param index number of the sample, from 0.
   */
  readonly address: (rows: TrafficRows, index: number) => Promise<string>
}

/** Parameters of a query string. */
export type Query = Readonly<Record<string, string | number | boolean>>

/** Joins path and query string. */
export function addressOf(path: string, query: Query = {}): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return text.size === 0 ? path : `${path}?${text.toString()}`
}

/** Creates a kind of request that filters by values of a random asset. */
export function ofAsset(
  name: string,
  condition: AssetCondition,
  address: (asset: AssetRow, rows: TrafficRows, index: number) => string,
): TrafficKind {
  return { name, address: async (rows, index) => address(await rows.asset(condition), rows, index) }
}

/**
 * Creates a kind of request that filters by values of a random listing.
 * @param states allowed states of the listing.
 */
export function ofListing(
  name: string,
  table: ListingTable,
  states: readonly number[],
  address: (listing: ListingRow, rows: TrafficRows, index: number) => string,
): TrafficKind {
  return { name, address: async (rows, index) => address(await rows.listing(table, states), rows, index) }
}
