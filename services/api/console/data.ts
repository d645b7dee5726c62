/* JSON of the console. Types only: the scripts of the page share them. Times are ms since 1970, 64-bit numbers are decimal text. Nothing here may reveal an internal host, address or login.
 */

/** The JSON that the page polls. */
export interface ConsoleData {
  /** When this was put together. */
  readonly time: number
  readonly version: string
  readonly revision: string | null
  readonly provider: { readonly name: string; readonly url: string }
  readonly chain: ChainView
  readonly health: HealthView
  readonly readers: readonly ReaderView[]
  readonly namespaces: readonly NamespaceView[]
  /** Port of the state service on the host of this page; null when it is not known. */
  readonly state_port: number | null
  /** Null until it has been measured. */
  readonly database: DatabaseView | null
}

/** The chain as reported by its node and the readers. */
export interface ChainView {
  readonly name: string
  readonly chain_id: string
  /** The chain is the bundled one. */
  readonly demo: boolean
  /** Newest block known; 0 before any is. */
  readonly head_block: number
  /** Null while no block's time is known. */
  readonly head_time: number | null
}

/** What `/health` says, without names of servers. */
export interface HealthView {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  readonly reasons: readonly string[]
  /** Since when each of them holds, ms since 1970, as this process has seen it; null where that is not known yet. */
  readonly since: readonly (number | null)[]
  /** Nothing is wrong but that a reader, which progresses, is behind the head, or has not committed its first block. */
  readonly catching_up: boolean
  /** Unavailable: readers and tables show their last known state. */
  readonly database: 'up' | 'unavailable'
  /** Whether requests are answered, be it by a replica. */
  readonly answers: boolean
  /** As in /health. */
  readonly kvstore: string
  readonly kvstore_kind: 'redis' | 'memory'
  /** State of each replica, in the order of the configuration. */
  readonly replicas: readonly string[]
}

/** How far a reader is. */
export interface ReaderView {
  readonly name: string
  /** connecting, catching-up, live or stopped; null before its first word. */
  readonly state: string | null
  /** It stands at its `stop_block`, and nothing more is expected of it. */
  readonly is_done: boolean
  readonly contracts: readonly { readonly family: string; readonly account: string }[]
  readonly start_block: number
  readonly block_num: number
  readonly block_time: number
  /** Where it is going: the head, or the last irreversible block. */
  readonly target_block: number
  readonly lag_blocks: number
  readonly lag_seconds: number
  readonly blocks_per_second: number | null
  /** Time left to the target; null while it cannot be estimated. */
  readonly eta_seconds: number | null
  readonly seconds_since_commit: number | null
  readonly seconds_since_heartbeat: number | null
  /** The chain nodes that it reads from, in the order of its configuration. */
  readonly nodes: readonly ChainNodeView[]
  readonly history: HistoryView
}

/** A chain node as its reader sees it. */
export interface ChainNodeView {
  /** connecting, watched, reading, followed or failed. */
  readonly state: string
  /** Newest head that it reported; null before the first. */
  readonly head_block: number | null
  /** Blocks by which that is behind the newest of all nodes. */
  readonly blocks_behind: number | null
  readonly bytes_per_second: number
  /** Times that it was lost, left or refused. */
  readonly faults: number
}

/** Speed over time: each entry of `rates` belongs to the entry of `times` at its place. */
export interface HistoryView {
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[]
  /** Blocks per second up to that time; null where what was before is not known. */
  readonly rates: readonly (number | null)[]
}

/** The period that a history covers. */
export type HistoryRange = 'recent' | 'day'

/** A contract family that is served. */
export interface NamespaceView {
  readonly name: string
  readonly account: string
  readonly paths: readonly string[]
  /** Path of its server-sent events; null when none are served. */
  readonly events: string | null
}

/** Sizes of the database. */
export interface DatabaseView {
  readonly measured_at: number
  readonly total_bytes: string
  /** Tables of the program, the largest first; the partitions of a table count as one. */
  readonly tables: readonly TableView[]
}

/** A table and what it takes. */
export interface TableView {
  readonly schema: string
  readonly name: string
  /** The planner's estimate; null before the table was analysed. */
  readonly rows: string | null
  readonly table_bytes: string
  readonly index_bytes: string
}
