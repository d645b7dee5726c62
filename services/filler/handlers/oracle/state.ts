import type { Query } from '../handler.ts'

/** State of the handler between blocks: time of each data point by pair and ring position, ms since 1970. */
export type OracleState = ReadonlyMap<string, ReadonlyMap<bigint, bigint>>

/** Reads the state as of the committed position. */
export async function loadOracleState(query: Query): Promise<OracleState> {
  const rows = await query<{ pair_name: string; id: bigint; point_time: bigint }>(
    'SELECT pair_name, id, point_time FROM oracle.datapoints',
  )
  const state = new Map<string, Map<bigint, bigint>>()
  for (const { pair_name, id, point_time } of rows) {
    const ring = state.get(pair_name)
    if (ring) ring.set(id, point_time)
    else state.set(pair_name, new Map([[id, point_time]]))
  }
  return state
}
