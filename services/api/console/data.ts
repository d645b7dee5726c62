/*
 * JSON of the console. The file has types only, because the scripts of the page import it. Times are ms since 1970;
 * 64-bit numbers are decimal text. No member may reveal an internal host, address or login.
 */

/** The JSON that the console page polls. */
export interface ConsoleData {
  /** Time when the server collected the data, ms since 1970. */
  readonly time: number
  readonly version: string
  readonly revision: string | null
  readonly provider: { readonly name: string; readonly url: string }
  readonly chain: ChainView
  readonly health: HealthView
  readonly readers: readonly ReaderView[]
  readonly namespaces: readonly NamespaceView[]
  /** Port of the state service on the page's host; null if the port is not known. */
  readonly state_port: number | null
  /** Table sizes; null before the first measurement. */
  readonly database: DatabaseView | null
}

/** The chain as reported by its node and the readers. */
export interface ChainView {
  readonly name: string
  readonly chain_id: string
  /** Whether the chain is the bundled demo chain. */
  readonly demo: boolean
  /** Number of the newest known block; 0 if no block is known. */
  readonly head_block: number
  /** Time of the head block; null if the time is not known. */
  readonly head_time: number | null
}

/** Result of `/health`, without server names. */
export interface HealthView {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  readonly reasons: readonly string[]
  /**
   * Start of each of the `reasons`, ms since 1970. For a problem of a reader: computed from the last report of the
   * reader in the database. For other reasons: the time when this process first observed the reason; null before that
   * time.
   */
  readonly since: readonly (number | null)[]
  /**
   * Whether the only problem is a reader that makes progress, but is behind the head or has not committed its first
   * block.
   */
  readonly catching_up: boolean
  /**
   * State of the primary database server. If `unavailable`, the members for readers and tables have their last known
   * values.
   */
  readonly database: 'up' | 'unavailable'
  /** Start of the database outage, ms since 1970; null while the database is available. */
  readonly database_since: number | null
  /** Whether the API can answer requests, from the primary or from a replica. */
  readonly answers: boolean
  /** State of the key-value store, as in `/health`. */
  readonly kvstore: string
  readonly kvstore_kind: 'redis' | 'memory'
  /** State of each replica, in the order of the configuration. */
  readonly replicas: readonly string[]
}

/** State, position and speed of a reader, as the console shows them. */
export interface ReaderView {
  readonly name: string
  /** State of the reader: `connecting`, `catching-up`, `live` or `stopped`; null before the first heartbeat. */
  readonly state: string | null
  /** Whether the reader has reached its `stop_block` and reads no further blocks. */
  readonly is_done: boolean
  readonly contracts: readonly { readonly family: string; readonly account: string }[]
  readonly start_block: number
  readonly block_num: number
  readonly block_time: number
  /** Last block that the reader has to reach: the head, or the last irreversible block. */
  readonly target_block: number
  readonly lag_blocks: number
  readonly lag_seconds: number
  readonly blocks_per_second: number | null
  /** Estimated seconds until the reader reaches its target; null if there is no estimate. */
  readonly eta_seconds: number | null
  readonly seconds_since_commit: number | null
  readonly seconds_since_heartbeat: number | null
  /** Fork that the reader is replacing: the last replaced block, and the time when this process first saw the fork. */
  readonly fork: { readonly to_block: number; readonly since: number } | null
  /** Chain nodes of the reader, in the order of its configuration. */
  readonly nodes: readonly ChainNodeView[]
  readonly history: HistoryView
}

/** State of a chain node, as its reader reports it. */
export interface ChainNodeView {
  /**
   * State of the node's connection: `connecting`, `watched` (replies to status requests, sends no blocks), `reading`
   * (sends a range of blocks), `followed` (sends new blocks) or `failed`.
   */
  readonly state: string
  /** Newest head block that the node reported; null before the first report. */
  readonly head_block: number | null
  /** Blocks behind the newest head of all nodes; null before the first report. */
  readonly blocks_behind: number | null
  readonly bytes_per_second: number
  /** Number of times that the reader lost, abandoned or refused the node. */
  readonly faults: number
}

/** Speed of a reader over time. `times` and `rates` have the same length. */
export interface HistoryView {
  /** Ends of the intervals in which the rates were measured, seconds since 1970, ascending. */
  readonly times: readonly number[]
  /** `rates[i]` is the rate from `times[i - 1]` to `times[i]`, blocks per second; null if unknown. */
  readonly rates: readonly (number | null)[]
}

/** Period that the speed history of a reader covers: the last ten minutes, or the last day. */
export type HistoryRange = 'recent' | 'day'

/** A served contract family. */
export interface NamespaceView {
  readonly name: string
  readonly account: string
  readonly paths: readonly string[]
  /** Path of the namespace's event stream; null if the namespace has no stream. */
  readonly events: string | null
}

/** Sizes of the database and its tables. */
export interface DatabaseView {
  readonly measured_at: number
  readonly total_bytes: string
  /** Tables of this program, largest first. A partitioned table with all its partitions is one entry. */
  readonly tables: readonly TableView[]
}

export interface TableView {
  readonly schema: string
  readonly name: string
  /** Row estimate of PostgreSQL; null before the first `ANALYZE`. */
  readonly rows: string | null
  readonly table_bytes: string
  readonly index_bytes: string
}
