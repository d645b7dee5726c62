/** What the processes of `bench/latency` are given and say; times are of the clock that all processes share. */
import type { DatabaseAddress } from '../../../services/core/database/index.ts'

/** Parameters of every process, as JSON on its command line. */
export interface LatencySetting {
  readonly database: DatabaseAddress
  readonly chain: { readonly chainId: string; readonly http: string; readonly ship: string }
  readonly redis: { readonly host: string; readonly port: number }
  /** Readers of the filler and `connected_reader` of the api. */
  readonly reader: string
}

/** What the filler says. */
export interface FillerMessage {
  /** Blocks that have been committed since it started. */
  readonly committed: number
  readonly atMs: number
}

/** Message to the clients: REST requests a second from now on. */
export interface WantedLoad {
  readonly perSecond: number
}

/** What the clients say: the last of them has its first event of a block, or the times of REST requests so far. */
export type ClientsMessage =
  | { readonly ready: true }
  | { readonly block: number; readonly atMs: number }
  | { readonly restMs: readonly number[]; readonly failures: number }

/** Milliseconds of the clock that all processes of a machine share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
