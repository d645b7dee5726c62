import { createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import type { ShipNodeStatus, ShipSession, ShipStatus } from '../ship/index.ts'
import type { Gap } from './gaps.ts'
import { describeInterruption, describeStall } from './progress.ts'
import type { ReaderProblem } from './progress.ts'
import type { Reading, ReadingStatus } from './reading.ts'

/** Status of a reader, as the reader reports it. */
export interface ReaderStatus {
  readonly reader: string
  /** `connecting`: no stream yet; `catching-up`; `live`: at the head; `stopped`. */
  readonly state: 'connecting' | 'catching-up' | 'live' | 'stopped'
  /** Last committed block, 0 before the first. */
  readonly block: number
  /** Time of the last committed block, epoch milliseconds. */
  readonly blockTimeMs: number
  /** Head of the node, 0 before it is known. */
  readonly head: number
  /** Time of the head block, epoch milliseconds; null until the reader has applied the head block. */
  readonly headTimeMs: number | null
  readonly irreversible: number
  /** Blocks committed per second, averaged over the last five seconds. */
  readonly blocksPerSecond: number
  /** Number of row operations since reading began. */
  readonly operations: number
  /** Number of rollbacks since reading began. */
  readonly forks: number
  /** Number of blocks received and not applied yet. */
  readonly queuedBlocks: number
  /** Number of actions that did not fit their ABI. The actions were skipped and logged. */
  readonly undecodableActions: number
  /** Number of rows of tables that no ABI defines. The rows were skipped and logged. */
  readonly unknownTables: number
  /** Time of the last commit, epoch milliseconds; null before the first. */
  readonly committedAtMs: number | null
  /** Number of blocks between the last committed block and the target: the head, or the last irreversible block. */
  readonly blocksBehind: number
  /** Number of blocks received since reading began. */
  readonly receivedBlocks: number
  /** Number of bytes received since reading began. */
  readonly receivedBytes: number
  /** Number of connections opened since reading began. */
  readonly connections: number
  /** Size of the blocks that were received and not applied yet, bytes. */
  readonly heldBytes: number
  /** Milliseconds since the node's last complete message. */
  readonly sinceMessageMs: number | null
  /** Milliseconds since the node's last block. */
  readonly sinceBlockMs: number | null
  /** Milliseconds since the reader's last commit. */
  readonly sinceCommitMs: number | null
  /** Gaps below the last committed block, ascending. */
  readonly gaps: readonly Gap[]
  /** The problem that stops the reader; null while the reader progresses. */
  readonly problem: ReaderProblem | null
  /** Nodes of the reader, in the order of the configuration. */
  readonly nodes: readonly NodeStatus[]
}

/** Status of a node, as a reader reports it. */
export interface NodeStatus extends ShipNodeStatus {
  /** Bytes received from the node per second, averaged over the last five seconds. */
  readonly bytesPerSecond: number
}

const BEAT_MS = 1_000
/** Number of one-second samples over which rates are averaged. */
const SPEED_SAMPLES = 5
/** A reader at most this many blocks behind the head (or behind the last irreversible block) is `live`. */
const LIVE_BLOCKS = 20

type SessionStatus = Pick<
  ShipStatus,
  | 'state'
  | 'headNum'
  | 'libNum'
  | 'blocksReceived'
  | 'bytesReceived'
  | 'connections'
  | 'heldBytes'
  | 'sinceLastMessageMs'
  | 'sinceLastBlockMs'
  | 'lastProblem'
  | 'unfinishedBytes'
  | 'nodes'
>

/** Status while no session is open. */
const notConnected: SessionStatus = {
  state: 'idle',
  headNum: null,
  libNum: null,
  blocksReceived: 0,
  bytesReceived: 0,
  connections: 0,
  heldBytes: 0,
  sinceLastMessageMs: null,
  sinceLastBlockMs: null,
  lastProblem: null,
  unfinishedBytes: 0,
  nodes: [],
}
/** Status while no blocks are being read. */
const notReading: ReadingStatus = {
  block: 0,
  blockTimeMs: 0,
  head: 0,
  irreversible: 0,
  committedAtMs: null,
  sinceCommitMs: null,
  timedHead: -1,
  timedHeadMs: 0,
  queuedBlocks: 0,
  operations: 0,
  forks: 0,
  leftOut: { undecodableActions: 0, unknownTables: 0 },
}
/** Session states in which the connection to the node is good. */
const stallStates: Partial<Record<ShipStatus['state'], 'connected' | 'behind'>> = {
  streaming: 'connected',
  waiting: 'behind',
}

function stateOf(session: ShipStatus['state'], blocksBehind: number): ReaderStatus['state'] {
  if (session !== 'streaming') return 'connecting'
  return blocksBehind <= LIVE_BLOCKS ? 'live' : 'catching-up'
}

const BEAT = `
  INSERT INTO chain.heartbeats AS h (reader, beaten_at, committed_at, head_block, head_time, irreversible_block, blocks_per_second, state,
    message_at, block_at, problem, nodes)
  VALUES ($1, now(), now() - $2 * interval '1 ms', $3, $4, $5, $6, $7,
    now() - $8 * interval '1 ms', now() - $9 * interval '1 ms', $10, $11)
  ON CONFLICT (reader) DO UPDATE SET beaten_at = EXCLUDED.beaten_at, committed_at = coalesce(EXCLUDED.committed_at, h.committed_at),
    head_block = EXCLUDED.head_block, head_time = EXCLUDED.head_time, irreversible_block = EXCLUDED.irreversible_block,
    blocks_per_second = EXCLUDED.blocks_per_second, state = EXCLUDED.state, problem = EXCLUDED.problem, nodes = EXCLUDED.nodes,
    message_at = coalesce(EXCLUDED.message_at, h.message_at), block_at = coalesce(EXCLUDED.block_at, h.block_at)`

/** Status of a node for the public: without its address and messages. */
function publicNode({ state, headNum, lagBlocks, bytesPerSecond, faults }: NodeStatus): object {
  return {
    state,
    head_block: headNum,
    blocks_behind: lagBlocks,
    bytes_per_second: Math.round(bytesPerSecond),
    faults,
  }
}

/** Reports the status of a reader once a second, to the database and to a listener. */
export class Heartbeat {
  readonly #reader: string
  readonly #listener: (status: ReaderStatus) => void
  readonly #pool: ReturnType<typeof createPool>
  readonly #timer: NodeJS.Timeout
  readonly #samples: { atMs: number; block: number }[] = []
  readonly #nodeSamples: { atMs: number; bytes: readonly number[] }[] = []
  #session: ShipSession | null = null
  #reading: Reading | null = null
  #irreversibleOnly = false
  #lastBlock = 0
  #gaps: readonly Gap[] = []
  #onBeat: (status: ReaderStatus) => void = () => undefined
  #writing = false
  readonly #stalledAfterMs: number | undefined
  readonly #startedMs = performance.now()
  /** Error that interrupted reading; null after the next commit. */
  #interruption: ReaderProblem | null = null
  /** Time of the last commit, on the clock of `performance`. */
  #committedMs: number | null = null

  /** `stalledAfterMs` is for tests; see `STALLED_AFTER_MS`. */
  constructor(
    database: DatabaseAddress,
    reader: string,
    listener: (status: ReaderStatus) => void,
    stalledAfterMs?: number,
  ) {
    this.#reader = reader
    this.#listener = listener
    this.#stalledAfterMs = stalledAfterMs
    this.#pool = createPool(database, {
      applicationName: `pronghorn heartbeat ${reader}`,
      max: 1,
      statementTimeoutMs: 5_000,
    })
    this.#timer = setInterval(() => this.#beat(), BEAT_MS)
  }

  /** Last committed block. */
  get block(): number {
    this.#noteCommit()
    return this.#lastBlock
  }

  /**
   * Reports the status of `session` and `reading` from now on. Calls `onBeat` on every heartbeat. With
   * `irreversibleOnly` a reader is `live` when the reader is close to the last irreversible block, otherwise when the
   * reader is close to the head.
   */
  follow(
    session: ShipSession,
    reading: Reading,
    irreversibleOnly: boolean,
    onBeat: (status: ReaderStatus) => void,
  ): void {
    this.#session = session
    this.#reading = reading
    this.#irreversibleOnly = irreversibleOnly
    this.#onBeat = onBeat
  }

  /** Sets the gaps of the reader. */
  noteGaps(gaps: readonly Gap[]): void {
    this.#gaps = gaps
  }

  /** Reports that reading failed and restarts; the problem is reported until the next commit. */
  interrupt(error: unknown): void {
    this.#noteCommit()
    this.#interruption = describeInterruption(error)
    this.#session = null
    this.#reading = null
    this.#onBeat = () => undefined
    this.#beat()
  }

  /** Reports `stopped`, ends the timer and closes the database connection. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    const status = this.#status('stopped')
    this.#listener(status)
    await this.#write(status)
    await this.#pool.end().catch(() => undefined)
  }

  #beat(): void {
    const status = this.#status()
    this.#listener(status)
    this.#onBeat(status)
    if (this.#writing) return
    this.#writing = true
    void this.#write(status).finally(() => {
      this.#writing = false
    })
  }

  /**
   * Copies position and time of the last commit from the status of `#reading`. Clears the error that interrupted
   * reading, because a commit shows that reading works again.
   */
  #noteCommit(): void {
    const status = this.#reading?.status()
    if (status === undefined) return
    this.#lastBlock = status.block
    if (status.sinceCommitMs === null) return
    this.#committedMs = performance.now() - status.sinceCommitMs
    this.#interruption = null
  }

  #status(state?: ReaderStatus['state']): ReaderStatus {
    this.#noteCommit()
    const reading = this.#reading?.status() ?? notReading
    const session = this.#session?.status() ?? notConnected
    const head = Math.max(reading.head, session.headNum ?? 0)
    const block = this.#lastBlock
    const sinceCommitMs = this.#committedMs === null ? null : performance.now() - this.#committedMs
    const target = this.#irreversibleOnly ? (session.libNum ?? head) : head
    const blocksBehind = Math.max(0, target - block)
    return {
      reader: this.#reader,
      state: state ?? stateOf(session.state, target - block),
      block,
      blockTimeMs: reading.blockTimeMs,
      head,
      headTimeMs: reading.timedHead === head ? reading.timedHeadMs : null,
      irreversible: reading.irreversible,
      blocksPerSecond: this.#speed(block),
      operations: reading.operations,
      forks: reading.forks,
      queuedBlocks: reading.queuedBlocks,
      undecodableActions: reading.leftOut.undecodableActions,
      unknownTables: reading.leftOut.unknownTables,
      committedAtMs: reading.committedAtMs,
      blocksBehind,
      receivedBlocks: session.blocksReceived,
      receivedBytes: session.bytesReceived,
      connections: session.connections,
      heldBytes: session.heldBytes,
      sinceMessageMs: session.sinceLastMessageMs,
      sinceBlockMs: session.sinceLastBlockMs,
      sinceCommitMs,
      gaps: this.#gaps.filter(({ last }) => last < block),
      nodes: this.#nodes(session.nodes),
      problem: state === 'stopped' ? this.#interruption : this.#problem(session, sinceCommitMs, blocksBehind),
    }
  }

  #problem(
    session: SessionStatus,
    sinceCommitMs: number | null,
    waitingBlocks: number,
  ): ReaderProblem | null {
    if (this.#interruption !== null) return this.#interruption
    const sinceStartMs = performance.now() - this.#startedMs
    const { state, lastProblem, sinceLastMessageMs, unfinishedBytes } = session
    return describeStall(
      {
        session: stallStates[state] ?? 'disconnected',
        lastProblem,
        sinceCommitMs: sinceCommitMs ?? sinceStartMs,
        sinceMessageMs: sinceLastMessageMs ?? sinceStartMs,
        unfinishedBytes,
        waitingBlocks,
      },
      this.#stalledAfterMs,
    )
  }

  /** Adds to the status of each node the bytes received per second, averaged over the last samples. */
  #nodes(nodes: readonly ShipNodeStatus[]): NodeStatus[] {
    const now = performance.now()
    this.#nodeSamples.push({ atMs: now, bytes: nodes.map(({ bytesReceived }) => bytesReceived) })
    if (this.#nodeSamples.length > SPEED_SAMPLES + 1) this.#nodeSamples.shift()
    const first = this.#nodeSamples[0]!
    const seconds = (now - first.atMs) / 1_000
    return nodes.map((node, place) => ({
      ...node,
      bytesPerSecond:
        seconds > 0 ? Math.max(0, (node.bytesReceived - (first.bytes[place] ?? 0)) / seconds) : 0,
    }))
  }

  #speed(block: number): number {
    const now = performance.now()
    this.#samples.push({ atMs: now, block })
    if (this.#samples.length > SPEED_SAMPLES + 1) this.#samples.shift()
    const first = this.#samples[0]!
    const seconds = (now - first.atMs) / 1000
    return seconds > 0 ? Math.max(0, (block - first.block) / seconds) : 0
  }

  /** Ignores errors: the heartbeat must never stop a reader, and commits report an unavailable database. */
  async #write(status: ReaderStatus): Promise<void> {
    await this.#pool
      .query(BEAT, [
        status.reader,
        status.sinceCommitMs,
        status.head,
        status.headTimeMs,
        status.irreversible,
        status.blocksPerSecond,
        status.state,
        status.sinceMessageMs,
        status.sinceBlockMs,
        status.problem?.summary ?? null,
        JSON.stringify(status.nodes.map(publicNode)),
      ])
      .catch(() => undefined)
  }
}
