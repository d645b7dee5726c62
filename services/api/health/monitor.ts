import { readChainInfo } from '../../core/chain-node/index.ts'
import type { ChainInfo } from '../../core/chain-node/index.ts'
import type pg from 'pg'
import { answerWithin, createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { KeyValueStore, StoreState } from '../../core/kvstore/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { HitShare, readPageCounts } from '../../core/upkeep/index.ts'
import type { ServerState } from '../database/index.ts'
import type { LiveFeedState } from '../live/index.ts'
import type { ChainNodeState, HealthState, IndexedContract, ReaderState, StartingReader } from './state.ts'

const INTERVAL_MS = 1_000
const PROBE_TIMEOUT_MS = 3_000

export interface MonitorOptions {
  readonly database: DatabaseAddress
  /** Returns the state of the primary and its replicas. */
  readonly servers: () => readonly ServerState[]
  /** Returns the state of the subscriptions to the readers' feeds. */
  readonly feeds: () => readonly LiveFeedState[]
  readonly kvstore: KeyValueStore
  /** HTTP address of a chain node. If undefined, the head of the chain is known from the readers only. */
  readonly chainHttp: string | undefined
  readonly chainId: string
  readonly logger: Logger
  /** Called after each poll of the database. */
  readonly onDatabase: (available: boolean) => void
  /** Called with the state of all dependencies after each poll of the database. */
  readonly onLook?: (state: HealthState) => void
}

/** Polls all dependencies of the server once a second, so that health requests are answered from memory. */
export interface Monitor {
  readonly state: HealthState
  /**
   * Whether database and key-value store answer, according to the running poll or, if none is running, the last one.
   */
  isWorking(): Promise<boolean>
  close(): Promise<void>
}

interface MutableState {
  database: 'up' | 'unavailable'
  kvstore: StoreState
  readers: readonly ReaderState[]
  starting: readonly StartingReader[]
  node: ChainInfo | undefined
  cacheHitShare: number | null
}

/** Starts polling. Resolves after the first poll. */
export async function startMonitor(options: MonitorOptions): Promise<Monitor> {
  const { kvstore, chainId, chainHttp, logger } = options
  const pool = createPool(options.database, {
    applicationName: 'pronghorn-api-health',
    statementTimeoutMs: PROBE_TIMEOUT_MS,
    max: 1,
  })
  const state: MutableState = {
    database: 'unavailable',
    kvstore: 'unavailable',
    readers: [],
    starting: [],
    node: undefined,
    cacheHitShare: null,
  }
  const hits = new HitShare()
  const current = (): HealthState => ({
    ...state,
    servers: options.servers(),
    feeds: options.feeds(),
    chainId,
    kvstoreKind: kvstore.kind,
  })
  const note = (up: boolean, error?: unknown): void => {
    const now = up ? 'up' : 'unavailable'
    if (now !== state.database)
      logger.info(up ? 'the database is available' : `the database is unavailable: ${describeError(error)}`)
    state.database = now
    options.onDatabase(up)
    options.onLook?.(current())
  }
  const lookAtDatabase = async (): Promise<void> => {
    state.readers = await answerWithin(() => readReaders(pool), PROBE_TIMEOUT_MS, 'the database')
    state.starting = await answerWithin(() => readStarting(pool), PROBE_TIMEOUT_MS, 'the database')
    const counts = await answerWithin(() => readPageCounts(pool), PROBE_TIMEOUT_MS, 'the database')
    hits.note(counts, performance.now())
    state.cacheHitShare = hits.share
  }
  const database = repeat(() =>
    lookAtDatabase().then(
      () => note(true),
      (error: unknown) => note(false, error),
    ),
  )
  const store = repeat(async () => {
    state.kvstore = await answerWithin(() => kvstore.probe(), PROBE_TIMEOUT_MS, 'the key-value store').catch(
      () => 'unavailable' as const,
    )
  })
  const looks = [database, store]
  if (chainHttp !== undefined) {
    const lookAtNode = async (): Promise<void> => {
      // If the node does not answer, keep the node's last answer. The head in this answer grows older, so the health
      // report shows the failure.
      state.node = await readChainInfo(chainHttp).catch(() => state.node)
    }
    looks.push(repeat(lookAtNode))
  }
  await Promise.all(looks.map((look) => look.running()))
  return {
    get state() {
      return current()
    },
    async isWorking() {
      await Promise.all([database.running(), store.running()])
      return state.database === 'up' && state.kvstore !== 'unavailable'
    },
    async close() {
      await Promise.all(looks.map((look) => look.stop()))
      await pool.end()
    },
  }
}

/** A poll that repeats until it is stopped. */
interface Repeated {
  /** Resolves when no poll is running. */
  running(): Promise<void>
  stop(): Promise<void>
}

/** Runs a poll at once, and then repeatedly with a pause after each poll. */
function repeat(probe: () => Promise<void>): Repeated {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void>
  const run = (): void => {
    running = probe().then(() => {
      if (!isStopped) timer = setTimeout(run, INTERVAL_MS)
    })
  }
  run()
  return {
    running: () => running,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

type ReaderRow = [
  string,
  number,
  bigint,
  number | null,
  bigint | null,
  number | null,
  string | null,
  number | null,
  number | null,
  number | null,
  number | null,
  number | null,
  string | null,
  number,
  IndexedContract[],
  [number, number][],
  ChainNodeState[] | null,
  number | null,
  string[] | null,
]

async function readReaders(pool: pg.Pool): Promise<ReaderState[]> {
  const { rows } = await pool.query<ReaderRow>({
    rowMode: 'array',
    query_timeout: PROBE_TIMEOUT_MS,
    text: `SELECT r.name, r.block_num, r.block_time, h.head_block, h.head_time, h.irreversible_block, h.state,
        h.blocks_per_second, extract(epoch FROM now() - h.beaten_at)::float8,
        extract(epoch FROM now() - h.committed_at)::float8, extract(epoch FROM now() - h.message_at)::float8,
        extract(epoch FROM now() - h.block_at)::float8, h.problem, r.start_block,
        (SELECT coalesce(json_agg(json_build_object('family', s.family, 'account', s.account) ORDER BY s.family), '[]')
          FROM chain.sources s WHERE s.reader = r.name),
        (SELECT coalesce(json_agg(json_build_array(g.first_block, g.last_block) ORDER BY g.first_block), '[]')
          FROM chain.gaps g WHERE g.reader = r.name AND g.last_block < r.block_num),
        h.nodes, i.history_since, i.accepted_gaps
      FROM chain.readers r LEFT JOIN chain.heartbeats h ON h.reader = r.name LEFT JOIN chain.imports i ON i.reader = r.name
      ORDER BY r.name`,
  } as pg.QueryArrayConfig)
  return rows.map((row) => ({
    name: row[0],
    blockNum: row[1],
    blockTimeMs: Number(row[2]),
    headBlock: row[3] ?? undefined,
    headTimeMs: row[4] === null ? undefined : Number(row[4]),
    irreversibleBlock: row[5] ?? undefined,
    mode: row[6] ?? undefined,
    blocksPerSecond: row[7] ?? undefined,
    secondsSinceHeartbeat: row[8] ?? undefined,
    secondsSinceCommit: row[9] ?? undefined,
    secondsSinceMessage: row[10] ?? undefined,
    secondsSinceBlock: row[11] ?? undefined,
    problem: row[12] ?? undefined,
    startBlock: row[13],
    contracts: row[14],
    gaps: row[15],
    nodes: row[16] ?? [],
    historySince: row[17],
    acceptedGaps: row[18] ?? [],
  }))
}

/**
 * Queries the database for readers that have sent a heartbeat within the last minute, but have not committed a block.
 */
async function readStarting(pool: pg.Pool): Promise<StartingReader[]> {
  const { rows } = await pool.query<[string, string | null]>({
    rowMode: 'array',
    query_timeout: PROBE_TIMEOUT_MS,
    text: `SELECT h.reader, h.problem FROM chain.heartbeats h
      WHERE h.beaten_at > now() - interval '1 minute' AND NOT EXISTS (SELECT FROM chain.readers r WHERE r.name = h.reader)
      ORDER BY h.reader`,
  } as pg.QueryArrayConfig)
  return rows.map(([name, problem]) => ({ name, problem: problem ?? undefined }))
}
