import type { Query } from '../handler.ts'

/** Handler state between blocks; mirrors rows of oracle.datapoints and oracle.pairs. */
export interface OracleState {
  /** Times of data points in ms since 1970, by pair and ring slot. */
  readonly rings: ReadonlyMap<string, ReadonlyMap<bigint, bigint>>
  /** Decimal places of the medians of each known oracle pair. */
  readonly precisions: ReadonlyMap<string, number>
}

/** Handler state before any block is indexed. */
export const emptyState: OracleState = { rings: new Map(), precisions: new Map() }

/** Reads the handler state from the database, as of the committed position. */
export async function loadOracleState(query: Query): Promise<OracleState> {
  const points = await query<{ pair_name: string; id: bigint; point_time: bigint }>(
    'SELECT pair_name, id, point_time FROM oracle.datapoints',
  )
  const rings = new Map<string, Map<bigint, bigint>>()
  for (const { pair_name, id, point_time } of points) {
    const ring = rings.get(pair_name)
    if (ring) ring.set(id, point_time)
    else rings.set(pair_name, new Map([[id, point_time]]))
  }
  const pairs = await query<{ pair_name: string; median_precision: number }>(
    'SELECT pair_name, median_precision FROM oracle.pairs',
  )
  return {
    rings,
    precisions: new Map(pairs.map(({ pair_name, median_precision }) => [pair_name, median_precision])),
  }
}
