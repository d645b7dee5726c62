import { knownChains } from '../../core/config/schema/index.ts'
import type { NamespaceConfig } from '../../core/config/schema/index.ts'
import type { ServerInfo } from '../documentation/index.ts'
import { databaseProblem, isAnswered, isAtStop, measureLag, reportHealth } from '../health/index.ts'
import type { HealthReport, HealthSettings, HealthState, ReaderLag, ReaderState } from '../health/index.ts'
import type {
  ConsoleData,
  DatabaseView,
  HealthView,
  HistoryRange,
  NamespaceView,
  ReaderView,
} from './data.ts'
import type { ProgressHistory } from './history.ts'

/** Data of the console that is constant for the lifetime of the process. */
export interface ConsoleFacts extends ServerInfo {
  readonly revision: string | undefined
  readonly health: HealthSettings
  readonly namespaces: readonly NamespaceView[]
  /** Returns the port of the state service on this host, or undefined until the port is known. */
  readonly statePort: () => number | undefined
}

/** Data of the console that changes, observed at one time. */
export interface Observation {
  readonly state: HealthState
  readonly history: ProgressHistory
  /** Period of the speed history that the console page shows. */
  readonly range: HistoryRange
  readonly database: DatabaseView | null
  readonly nowMs: number
}

/** Builds the data of the console page. */
export function takeSnapshot(
  facts: ConsoleFacts,
  { state, history, range, database, nowMs }: Observation,
): ConsoleData {
  const report = reportHealth(state, facts.health, nowMs)
  return {
    time: nowMs,
    version: facts.version,
    revision: facts.revision ?? null,
    provider: { name: facts.providerName, url: facts.providerUrl },
    chain: {
      name: knownChains.find(({ id }) => id === state.chainId)?.name ?? facts.chain,
      chain_id: state.chainId,
      demo: facts.health.demo,
      head_block: report.head.block,
      head_time: report.head.timeMs,
    },
    health: describeHealth(report, { state, history, nowMs }),
    readers: state.readers.map((reader) => ({
      ...describeReader(reader, measureLag(reader, report.head, facts.health), history, range),
      is_done: isAtStop(reader, facts.health),
    })),
    namespaces: facts.namespaces,
    state_port: facts.statePort() ?? null,
    database,
  }
}

/**
 * Describes the health for the console page. The page shows numbers instead of the names of replicas, because the names
 * are internal addresses.
 */
function describeHealth(
  { status, reasons }: HealthReport,
  { state, history, nowMs }: Pick<Observation, 'state' | 'history' | 'nowMs'>,
): HealthView {
  const replicas = state.servers.filter(({ server }) => server !== 'primary')
  const places = new Map(replicas.map(({ server }, place) => [`replica ${server} `, `replica ${place + 1} `]))
  return {
    status,
    reasons: reasons.map((reason) =>
      [...places].reduce((text, [name, place]) => text.replace(name, place), reason),
    ),
    since: reasons.map((reason) => beganAt(reason, state, nowMs) ?? history.since(reason)),
    catching_up: isCatchingUp(reasons, state),
    database: state.database,
    database_since: history.since(databaseProblem(state) ?? ''),
    answers: isAnswered(state),
    kvstore: state.kvstore,
    kvstore_kind: state.kvstoreKind,
    replicas: replicas.map((replica) => replica.state),
  }
}

/**
 * Start of the problem `reason`, ms since 1970, computed from the last report of the reader that has the problem. Null
 * if `reason` is no problem of a reader, or if the database is unavailable.
 */
function beganAt(reason: string, { readers, database }: HealthState, nowMs: number): number | null {
  // While the database is unavailable, the times of the last heartbeat and commit are not updated.
  if (database !== 'up') return null
  const reader = readers.find(({ name }) => reason === `reader ${name} is silent`)
  const troubled = readers.find(({ name, problem }) => reason === `reader ${name}: ${problem ?? ''}`)
  const seconds = reader?.secondsSinceHeartbeat ?? troubled?.secondsSinceCommit
  return seconds === undefined ? null : nowMs - seconds * 1_000
}

const NOTHING_INDEXED = 'no reader has indexed anything'

function isCatchingUp(reasons: readonly string[], { readers, database }: HealthState): boolean {
  if (reasons.length === 0 || database !== 'up') return false
  if (readers.length === 0) return reasons.every((reason) => reason === NOTHING_INDEXED)
  const isProgressing = readers.some(({ mode, problem }) => mode === 'catching-up' && problem === undefined)
  return isProgressing && reasons.every((reason) => reason.endsWith(' blocks behind'))
}

function describeReader(
  reader: ReaderState,
  { lagBlocks, lagSeconds }: ReaderLag,
  history: ProgressHistory,
  range: HistoryRange,
): Omit<ReaderView, 'is_done'> {
  return {
    name: reader.name,
    state: reader.mode ?? null,
    contracts: reader.contracts,
    start_block: reader.startBlock,
    block_num: reader.blockNum,
    block_time: reader.blockTimeMs,
    target_block: reader.blockNum + lagBlocks,
    lag_blocks: lagBlocks,
    lag_seconds: lagSeconds,
    blocks_per_second: reader.blocksPerSecond ?? null,
    eta_seconds: history.secondsLeft(reader.name, lagBlocks),
    seconds_since_commit: reader.secondsSinceCommit ?? null,
    seconds_since_heartbeat: reader.secondsSinceHeartbeat ?? null,
    fork: history.fork(reader.name),
    nodes: reader.nodes,
    history: history.rates(reader.name, range),
  }
}

/** Describes the served namespaces and their paths. */
export function describeNamespaces(
  entries: readonly NamespaceConfig[],
  eventsOf: (entry: NamespaceConfig) => string | undefined,
): NamespaceView[] {
  return entries.map((entry) => ({
    name: entry.name,
    account: accountOf(entry),
    paths: [entry.path, ...entry.aliases],
    events: eventsOf(entry) ?? null,
  }))
}

function accountOf(entry: NamespaceConfig): string {
  if (entry.name === 'assets') return entry.args.assets_account
  return entry.name === 'market' ? entry.args.market_account : entry.args.tools_account
}
