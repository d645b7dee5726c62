/* JSON of the console. Types only: the scripts of the page share them. Times are ms since 1970, 64-bit numbers are decimal text. Nothing here may reveal an internal host, address or login.
 */

/** The JSON that the page polls. */
export interface ConsoleData {
  /** Time of the snapshot. */
  readonly time: number
  readonly version: string
  readonly revision: string | null
  readonly provider: { readonly name: string; readonly url: string }
  readonly chain: ChainView
  readonly health: HealthView
  readonly readers: readonly ReaderView[]
  readonly namespaces: readonly NamespaceView[]
  /** Port of the state service on the page's host; null if it is not known. */
  readonly state_port: number | null
  /** Table sizes; null before the first measurement. */
  readonly database: DatabaseView | null
}

/** The chain as reported by its node and the readers. */
export interface ChainView {
  readonly name: string
  readonly chain_id: string
  /** Whether this is the bundled demo chain. */
  readonly demo: boolean
  /** Number of the newest known block; 0 if none is known. */
  readonly head_block: number
  /** Time of the head block; null if it is not known. */
  readonly head_time: number | null
}

/** The result of `/health`, without server names. */
export interface HealthView {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  readonly reasons: readonly string[]
  /**
   * For each reason: since when it holds, ms since 1970, by the reader's last report in the database, else as observed by
   * this process; null if not observed yet.
   */
  readonly since: readonly (number | null)[]
  /**
   * Whether the only problem is a reader that makes progress but is behind the head or has not committed its first
   * block.
   */
  readonly catching_up: boolean
  /** State of the primary. `unavailable`: readers and tables show their last known state. */
  readonly database: 'up' | 'unavailable'
  /** Time since which the database is unavailable, ms since 1970; null while it is available. */
  readonly database_since: number | null
  /** Whether requests are answered, by the primary or by a replica. */
  readonly answers: boolean
  /** State of the key-value store, as in `/health`. */
  readonly kvstore: string
  readonly kvstore_kind: 'redis' | 'memory'
  /** State of each replica, in the order of the configuration. */
  readonly replicas: readonly string[]
}

/** Progress of a reader. */
export interface ReaderView {
  readonly name: string
  /** State of the reader: connecting, catching-up, live or stopped; null before the first heartbeat. */
  readonly state: string | null
  /** Whether the reader has reached its `stop_block` and reads no further. */
  readonly is_done: boolean
  readonly contracts: readonly { readonly family: string; readonly account: string }[]
  readonly start_block: number
  readonly block_num: number
  readonly block_time: number
  /** Block that the reader works towards: the head, or the last irreversible block. */
  readonly target_block: number
  readonly lag_blocks: number
  readonly lag_seconds: number
  readonly blocks_per_second: number | null
  /** Estimated seconds until the target; null if there is no estimate. */
  readonly eta_seconds: number | null
  readonly seconds_since_commit: number | null
  readonly seconds_since_heartbeat: number | null
  /** A fork that the reader is replacing, as this process has seen it: the last replaced block, and since when. */
  readonly fork: { readonly to_block: number; readonly since: number } | null
  /** Chain nodes of the reader, in the order of its configuration. */
  readonly nodes: readonly ChainNodeView[]
  readonly history: HistoryView
}

/** State of a chain node, as its reader reports it. */
export interface ChainNodeView {
  /** State of the node's connection: connecting, watched, reading, followed or failed. */
  readonly state: string
  /** Newest head block that the node reported; null before the first. */
  readonly head_block: number | null
  /** Blocks behind the newest head of all nodes; null before the first report. */
  readonly blocks_behind: number | null
  readonly bytes_per_second: number
  /** How often the node was lost, abandoned or refused. */
  readonly faults: number
}

/** Speed over time. `times` and `rates` have the same length. */
export interface HistoryView {
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[]
  /** Blocks per second between the previous time and this one; null if unknown. */
  readonly rates: readonly (number | null)[]
}

/** The period that a history covers. */
export type HistoryRange = 'recent' | 'day'

/** A served contract family. */
export interface NamespaceView {
  readonly name: string
  readonly account: string
  readonly paths: readonly string[]
  /** Path of the namespace's event stream; null if it has none. */
  readonly events: string | null
}

/** Sizes of the database and its tables. */
export interface DatabaseView {
  readonly measured_at: number
  readonly total_bytes: string
  /** Tables of this program, largest first. A partitioned table is one entry. */
  readonly tables: readonly TableView[]
}

/** A table and its size. */
export interface TableView {
  readonly schema: string
  readonly name: string
  /** Row estimate of PostgreSQL; null before the first ANALYZE. */
  readonly rows: string | null
  readonly table_bytes: string
  readonly index_bytes: string
}
