import { describeStoreState } from '../../core/kvstore/index.ts'
import type { ServerState } from '../database/index.ts'
import type { LiveFeedState } from '../live/index.ts'
import type { HealthState, ReaderState, StartingReader } from './state.ts'

/** If the newest head is older than this, ms, the chain or the node has stalled. */
const HEAD_OLD_MS = 20_000
/** A reader with at least this lag has outdated data, and a load balancer should use another server. */
export const MAX_LAG_BLOCKS = 180
/** A reader with at least this lag is reported as behind. */
const LATE_BLOCKS = 20
/** Time between two blocks, ms. */
const BLOCK_MS = 500
/** A reader whose last heartbeat is older than this counts as silent, seconds. */
const SILENT_SECONDS = 30

/** Settings of the health report. */
export interface HealthSettings {
  readonly version: string
  /** Names of the readers that this API depends on. An empty list means all readers of the database. */
  readonly readers: readonly string[]
  /**
   * Names of the readers that index only irreversible blocks. Their lag is the distance to the last irreversible block.
   */
  readonly irreversibleReaders: readonly string[]
  /** `stop_block` by reader name, for readers that have one. */
  readonly stopBlocks: ReadonlyMap<string, number>
  /** Whether the chain is the bundled demo chain. */
  readonly demo: boolean
}

/**
 * `healthy`: there is no problem. `degraded`: answers are right, but there is a problem. `unhealthy`: a load balancer
 * should use another server.
 */
export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy'

/** Health report: status, reasons and the response of `/health`. */
export interface HealthReport {
  readonly status: HealthStatus
  /** Problems because of which the status is not `healthy`. */
  readonly reasons: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
  /** Age of the chain head, ms; null if the time of the head is not known. */
  readonly headAgeMs: number | null
  /** Greatest lag of the readers that this API depends on, blocks. */
  readonly lagBlocks: number
  /** Lag of each reader that this API depends on. */
  readonly lags: readonly ReaderLag[]
  /** Newest head that the node or a reader has reported. The block number is 0 before the first report. */
  readonly head: ChainHead
}

/** Head block of the chain. */
export interface ChainHead {
  readonly block: number
  /** Time of the block, ms since 1970; null if the time is not known. */
  readonly timeMs: number | null
}

/** Lag of a reader behind the head. */
export interface ReaderLag {
  readonly reader: string
  readonly lagBlocks: number
  readonly lagSeconds: number
}

/**
 * Computes the health report. The members `version`, `postgres`, `redis` and `chain` are part of the API of the
 * replaced system and must not change.
 */
export function reportHealth(state: HealthState, settings: HealthSettings, nowMs: number): HealthReport {
  const head = chainHead(state, nowMs)
  const watched = watchedReaders(state.readers, settings)
  const starting = watchedReaders(state.starting, settings)
  const lags = watched.map((reader) => measureLag(reader, head, settings))
  const lagBlocks = Math.max(0, ...lags.map((lag) => lag.lagBlocks))
  const headAgeMs = head.timeMs === null ? null : Math.max(0, nowMs - head.timeMs)
  const running = watched.filter((reader) => !isAtStop(reader, settings))
  const { status, reasons } = judge({ state, watched, running, starting }, lagBlocks, headAgeMs)
  const readers = state.readers.map((reader) => describeReader(reader, head, settings))
  const data = {
    version: settings.version,
    postgres: {
      status: databaseStatus(state),
      readers: state.readers.map(({ name, blockNum }) => ({ name, block_num: String(blockNum) })),
    },
    redis: { status: state.kvstore === 'up' ? 'OK' : 'ERROR' },
    chain: {
      status: headAgeMs !== null && headAgeMs < HEAD_OLD_MS ? 'OK' : 'ERROR',
      head_block: head.block,
      head_time: head.timeMs,
      chain_id: state.chainId,
      ...(settings.demo ? { demo: true } : {}),
      service: {
        status,
        reasons,
        database: state.database,
        cache_hit_share:
          state.cacheHitShare === null ? null : Math.round(state.cacheHitShare * 1_000) / 1_000,
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

/** Computes the lag of a reader in blocks and seconds. */
export function measureLag(reader: ReaderState, head: ChainHead, settings: HealthSettings): ReaderLag {
  const lagBlocks = lagOf(reader, head.block, settings)
  const goesToHead = (settings.stopBlocks.get(reader.name) ?? Infinity) >= head.block
  const isTimed = goesToHead && head.timeMs !== null && reader.blockTimeMs > 0
  const lagMs = isTimed ? head.timeMs - reader.blockTimeMs : lagBlocks * BLOCK_MS
  return { reader: reader.name, lagBlocks, lagSeconds: Math.max(0, lagMs) / 1_000 }
}

/** Whether a reader has reached its `stop_block` and reads no further blocks. */
export function isAtStop({ name, blockNum }: ReaderState, { stopBlocks }: HealthSettings): boolean {
  return blockNum >= (stopBlocks.get(name) ?? Infinity)
}

/** Whether the API can answer requests, from the primary or from a replica. */
export function isAnswered(state: HealthState): boolean {
  const isInUse = ({ server, state: how, isInUse: used }: ServerState): boolean =>
    used && server !== 'primary' && how !== 'unavailable'
  return state.database === 'up' || state.servers.some(isInUse)
}

/** Describes why the primary is unavailable; null if the primary is available. */
export function databaseProblem(state: HealthState): string | null {
  if (state.database === 'up') return null
  return isAnswered(state) ? 'the primary is unavailable, a replica answers' : 'the database is unavailable'
}

function databaseStatus(state: HealthState): 'OK' | 'INVALID' | 'ERROR' {
  if (!isAnswered(state)) return 'ERROR'
  return state.readers.length === 0 ? 'INVALID' : 'OK'
}

/**
 * Finds the newest head block that the node or a reader has reported. A reader that is catching up knows the number of
 * the head block, but not the time. The time is then computed from the newest block with a known time and from
 * BLOCK_MS. A computed time is never in the future.
 */
function chainHead(state: HealthState, nowMs: number): ChainHead {
  const { node, readers } = state
  const timed = [
    { block: node?.headBlock, timeMs: node?.headTimeMs },
    ...readers.map(({ headBlock, headTimeMs }) => ({ block: headBlock, timeMs: headTimeMs })),
    ...readers.map(({ blockNum, blockTimeMs }) => ({ block: blockNum, timeMs: blockTimeMs })),
  ].flatMap(({ block, timeMs }) => (block && timeMs ? [{ block, timeMs }] : []))
  const block = Math.max(0, node?.headBlock ?? 0, ...readers.map(({ headBlock }) => headBlock ?? 0))
  const newest = timed
    .filter((point) => point.block <= block)
    .reduce<{ block: number; timeMs: number } | null>(
      (best, point) => (best === null || point.block > best.block ? point : best),
      null,
    )
  if (newest === null) return { block, timeMs: null }
  const stepsMs = (block - newest.block) * BLOCK_MS
  return { block, timeMs: stepsMs === 0 ? newest.timeMs : Math.min(nowMs, newest.timeMs + stepsMs) }
}

/** Selects the readers that this API depends on. */
function watchedReaders<R extends { readonly name: string }>(
  readers: readonly R[],
  settings: HealthSettings,
): readonly R[] {
  if (settings.readers.length === 0) return readers
  return readers.filter(({ name }) => settings.readers.includes(name))
}

function lagOf(reader: ReaderState, headBlock: number, settings: HealthSettings): number {
  const irreversible = settings.irreversibleReaders.includes(reader.name)
  const target = irreversible ? (reader.irreversibleBlock ?? reader.blockNum) : headBlock
  return Math.max(0, Math.min(target, settings.stopBlocks.get(reader.name) ?? Infinity) - reader.blockNum)
}

/**
 * Input of `judge`. `watched`: readers that this API depends on. `running`: watched readers that have not reached their
 * `stop_block`. `starting`: readers that this API depends on and that have not committed a block.
 */
interface Judged {
  readonly state: HealthState
  readonly watched: readonly ReaderState[]
  readonly running: readonly ReaderState[]
  readonly starting: readonly StartingReader[]
}

function judge(
  { state, watched, running, starting }: Judged,
  lagBlocks: number,
  headAgeMs: number | null,
): { status: HealthStatus; reasons: string[] } {
  const bad: string[] = []
  const poor: string[] = []
  const problem = databaseProblem(state)
  const isRefused = !isAnswered(state)
  if (problem !== null) (isRefused ? bad : poor).push(problem)
  if (!isRefused && watched.length === 0) bad.push('no reader has indexed anything')
  for (const { server, state: how } of state.servers) {
    if (server !== 'primary' && how !== 'ready') poor.push(`replica ${server} is ${how}`)
  }
  if (lagBlocks >= MAX_LAG_BLOCKS) bad.push(`a reader is ${lagBlocks} blocks behind`)
  else if (lagBlocks >= LATE_BLOCKS) poor.push(`a reader is ${lagBlocks} blocks behind`)
  const kvstoreProblem = describeStoreState(state.kvstore)
  if (kvstoreProblem !== null) poor.push(kvstoreProblem)
  if (headAgeMs !== null && headAgeMs >= HEAD_OLD_MS) poor.push('the chain head is old')
  for (const { name, gaps } of watched)
    for (const [first, last] of gaps) poor.push(`reader ${name} lacks blocks ${first} to ${last}`)
  poor.push(...running.flatMap(readerProblems), ...starting.flatMap(ownProblem))
  const status = bad.length > 0 ? 'unhealthy' : poor.length > 0 ? 'degraded' : 'healthy'
  return { status, reasons: [...bad, ...poor] }
}

function readerProblems(reader: ReaderState): string[] {
  const isSilent = (reader.secondsSinceHeartbeat ?? Infinity) > SILENT_SECONDS
  return [...(isSilent ? [`reader ${reader.name} is silent`] : []), ...ownProblem(reader)]
}

function ownProblem({ name, problem }: StartingReader): string[] {
  return problem === undefined ? [] : [`reader ${name}: ${problem}`]
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
    state: isAtStop(reader, settings) ? `stopped at stop_block ${reader.blockNum}` : (reader.mode ?? null),
    block_num: String(reader.blockNum),
    block_time: String(reader.blockTimeMs),
    // A commit may be newer than the heartbeat that reported the head, so the head is at least the committed block.
    head_block: reader.headBlock === undefined ? null : String(Math.max(reader.headBlock, reader.blockNum)),
    lag_blocks: lagBlocks,
    lag_seconds: lagSeconds,
    blocks_per_second: reader.blocksPerSecond ?? null,
    seconds_since_commit: reader.secondsSinceCommit ?? null,
    seconds_since_message: reader.secondsSinceMessage ?? null,
    seconds_since_block: reader.secondsSinceBlock ?? null,
    history_since_block: reader.historySince === null ? null : String(reader.historySince),
    missing_rows: reader.acceptedGaps,
    missing_blocks: reader.gaps.map(([first, last]) => ({
      first_block: String(first),
      last_block: String(last),
    })),
    nodes: reader.nodes.map((node) => ({
      ...node,
      head_block: node.head_block === null ? null : String(node.head_block),
    })),
    problem: reader.problem ?? null,
    seconds_since_heartbeat: reader.secondsSinceHeartbeat ?? null,
  }
}
