/**
 * Parameters and messages of the processes of `bench/latency` and `bench/reader`. Times are by a clock that all
 * processes share.
 */
import type { DatabaseAddress } from '../../../services/core/database/index.ts'

/** Parameters of each process, as JSON on its command line. */
export interface LatencySetting {
  readonly database: DatabaseAddress
  readonly chain: { readonly chainId: string; readonly http: string; readonly ship: string }
  /** Redis of the live events. Without Redis the filler stores the events, but does not send them. */
  readonly redis?: { readonly host: string; readonly port: number }
  /** Name of the filler's reader, and `connected_reader` of the API. */
  readonly reader: string
}

export interface FillerMessage {
  /** Number of blocks committed since the start. */
  readonly committed: number
  readonly atMs: number
}

/** Message to the clients: the number of REST requests to send per second from now on. */
export interface WantedLoad {
  readonly perSecond: number
}

/**
 * Messages from the process of the clients: all clients have subscribed; time at which the last client received its
 * first event of a block; times of the REST requests at the previous rate.
 */
export type ClientsMessage =
  | { readonly ready: true }
  | { readonly block: number; readonly atMs: number }
  | { readonly restMs: readonly number[]; readonly failures: number }

/** Milliseconds by a clock that all processes of the machine share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
