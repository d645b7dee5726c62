import type { ServerState } from '../database/index.ts'
import type { LiveFeedState } from '../live/index.ts'
import type { HealthState, ReaderState } from './state.ts'

/** A head older than this is not what the chain is doing now. */
const HEAD_OLD_MS = 20_000
/** A reader this many blocks behind serves yesterday's data; a load balancer should ask somebody else. */
export const MAX_LAG_BLOCKS = 180
/** A reader this many blocks behind is worth a look. */
const LATE_BLOCKS = 20
/** A reader that has not spoken for so long has ended. */
const SILENT_SECONDS = 30

/** What the server is judged against. */
export interface HealthSettings {
  readonly version: string
  /** Readers that this server depends on; empty = all that are in the database. */
  readonly readers: readonly string[]
  /** Readers that index irreversible blocks only: they are measured against the last irreversible block. */
  readonly irreversibleReaders: readonly string[]
  /** The chain is the bundled one. */
  readonly demo: boolean
}

/** healthy: all well. degraded: answers are right but something is wrong. unhealthy: ask another server. */
export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy'

/** The answer of `/health`. */
export interface HealthReport {
  readonly status: HealthStatus
  /** Why it is not healthy. */
  readonly reasons: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
  /** Age of the chain head, ms. */
  readonly headAgeMs: number
  /** Blocks that the furthest reader in question is behind. */
  readonly lagBlocks: number
  /** How far each reader in question is behind the head. */
  readonly lags: readonly ReaderLag[]
  /** The newest head that the node or a reader has told of; block 0 before any has. */
  readonly head: ChainHead
}

/** A head of the chain. */
export interface ChainHead {
  readonly block: number
  /** Its time, ms since 1970. */
  readonly timeMs: number
}

/** How far a reader is behind the head. */
export interface ReaderLag {
  readonly reader: string
  readonly lagBlocks: number
  readonly lagSeconds: number
}

/** Judges a state. The keys version, postgres, redis and chain, and those within, are what clients know. */
export function reportHealth(state: HealthState, settings: HealthSettings, nowMs: number): HealthReport {
  const head = chainHead(state)
  const watched = watchedReaders(state, settings)
  const lags = watched.map((reader) => measureLag(reader, head, settings))
  const lagBlocks = Math.max(0, ...lags.map((lag) => lag.lagBlocks))
  const headAgeMs = Math.max(0, nowMs - head.timeMs)
  const { status, reasons } = judge(state, watched, lagBlocks, headAgeMs)
  const readers = state.readers.map((reader) => describeReader(reader, head, settings))
  const data = {
    version: settings.version,
    postgres: {
      status: databaseStatus(state),
      readers: state.readers.map(({ name, blockNum }) => ({ name, block_num: String(blockNum) })),
    },
    redis: { status: state.kvstore === 'up' ? 'OK' : 'ERROR' },
    chain: {
      status: headAgeMs < HEAD_OLD_MS ? 'OK' : 'ERROR',
      head_block: head.block,
      head_time: head.timeMs,
      chain_id: state.chainId,
      ...(settings.demo ? { demo: true } : {}),
      service: {
        status,
        reasons,
        database: state.database,
        ...(state.servers.length > 1 ? { servers: state.servers.map(describeServer) } : {}),
        kvstore: state.kvstore,
        kvstore_kind: state.kvstoreKind,
        readers,
        live: state.feeds.map(describeFeed),
      },
    },
  }
  return { status, reasons, data, headAgeMs, lagBlocks, lags, head }
}

/** How far a reader, in question or not, is behind the head. */
export function measureLag(reader: ReaderState, head: ChainHead, settings: HealthSettings): ReaderLag {
  return {
    reader: reader.name,
    lagBlocks: lagOf(reader, head.block, settings),
    lagSeconds: Math.max(0, head.timeMs - reader.blockTimeMs) / 1_000,
  }
}

/** Whether requests are answered, be it by a replica. */
export function isAnswered(state: HealthState): boolean {
  const isInUse = ({ server, state: how, isInUse: used }: ServerState): boolean =>
    used && server !== 'primary' && how !== 'away'
  return state.database === 'up' || state.servers.some(isInUse)
}

function databaseStatus(state: HealthState): 'OK' | 'INVALID' | 'ERROR' {
  if (!isAnswered(state)) return 'ERROR'
  return state.readers.length === 0 ? 'INVALID' : 'OK'
}

/** The newest head that the node or a reader has told of. */
function chainHead(state: HealthState): ChainHead {
  const heads: ChainHead[] = state.readers.map(({ headBlock, headTimeMs }) => ({
    block: headBlock ?? 0,
    timeMs: headTimeMs ?? 0,
  }))
  if (state.node) heads.push({ block: state.node.headBlock, timeMs: state.node.headTimeMs })
  return heads.reduce((best, head) => (head.block > best.block ? head : best), { block: 0, timeMs: 0 })
}

function watchedReaders(state: HealthState, settings: HealthSettings): readonly ReaderState[] {
  if (settings.readers.length === 0) return state.readers
  return state.readers.filter(({ name }) => settings.readers.includes(name))
}

function lagOf(reader: ReaderState, headBlock: number, settings: HealthSettings): number {
  const irreversible = settings.irreversibleReaders.includes(reader.name)
  const target = irreversible ? (reader.irreversibleBlock ?? reader.blockNum) : headBlock
  return Math.max(0, target - reader.blockNum)
}

function judge(
  state: HealthState,
  watched: readonly ReaderState[],
  lagBlocks: number,
  headAgeMs: number,
): { status: HealthStatus; reasons: string[] } {
  const bad: string[] = []
  const poor: string[] = []
  if (!isAnswered(state)) bad.push('the database is away')
  else if (watched.length === 0) bad.push('no reader has indexed anything')
  if (state.database === 'away' && bad.length === 0) poor.push('the primary is away, a replica answers')
  for (const { server, state: how } of state.servers) {
    if (server !== 'primary' && how !== 'ready') poor.push(`replica ${server} is ${how}`)
  }
  if (lagBlocks >= MAX_LAG_BLOCKS) bad.push(`a reader is ${lagBlocks} blocks behind`)
  else if (lagBlocks >= LATE_BLOCKS) poor.push(`a reader is ${lagBlocks} blocks behind`)
  if (state.kvstore === 'away') poor.push('the key-value store is away')
  if (headAgeMs >= HEAD_OLD_MS) poor.push('the chain head is old')
  for (const { name, secondsSinceHeartbeat } of watched) {
    if ((secondsSinceHeartbeat ?? Infinity) > SILENT_SECONDS) poor.push(`reader ${name} is silent`)
  }
  const status = bad.length > 0 ? 'unhealthy' : poor.length > 0 ? 'degraded' : 'healthy'
  return { status, reasons: [...bad, ...poor] }
}

function describeServer({ server, state, lagMs, isInUse }: ServerState): Record<string, unknown> {
  return { server, state, lag_ms: lagMs === undefined ? null : Math.round(lagMs), in_use: isInUse }
}

function describeFeed({ reader, feed }: LiveFeedState): Record<string, unknown> {
  const lag = feed?.lag
  return {
    reader,
    sequence: feed === undefined ? null : String(feed.sequence),
    via: feed?.via ?? null,
    live: lag?.live ?? null,
    block_num: lag ? String(lag.block_num) : null,
  }
}

function describeReader(
  reader: ReaderState,
  head: ChainHead,
  settings: HealthSettings,
): Record<string, unknown> {
  const { lagBlocks, lagSeconds } = measureLag(reader, head, settings)
  return {
    name: reader.name,
    state: reader.mode ?? null,
    block_num: String(reader.blockNum),
    block_time: String(reader.blockTimeMs),
    head_block: reader.headBlock === undefined ? null : String(reader.headBlock),
    lag_blocks: lagBlocks,
    lag_seconds: lagSeconds,
    blocks_per_second: reader.blocksPerSecond ?? null,
    seconds_since_commit: reader.secondsSinceCommit ?? null,
    seconds_since_heartbeat: reader.secondsSinceHeartbeat ?? null,
  }
}
