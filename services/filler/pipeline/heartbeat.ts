import { createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import type { ShipSession } from '../ship/index.ts'
import type { Reading } from './reading.ts'

/** What a reader says of itself. */
export interface ReaderStatus {
  readonly reader: string
  /** `connecting`: no stream yet; `catching-up`; `live`: at the head; `stopped`. */
  readonly state: 'connecting' | 'catching-up' | 'live' | 'stopped'
  /** Last committed block, 0 before the first. */
  readonly block: number
  /** Its time, epoch milliseconds. */
  readonly blockTimeMs: number
  /** Head of the node, 0 before it was told. */
  readonly head: number
  readonly irreversible: number
  /** Blocks committed per second over the last seconds. */
  readonly blocksPerSecond: number
  /** Row operations so far, and rollbacks. */
  readonly operations: number
  readonly forks: number
  /** Blocks received and waiting. */
  readonly queuedBlocks: number
  /** Actions that did not fit their ABI, and rows of tables that no ABI names: left out, and logged. */
  readonly undecodableActions: number
  readonly unknownTables: number
  /** When the last commit ended, epoch milliseconds; null before the first. */
  readonly committedAtMs: number | null
  /** Blocks between the last committed one and where the reader is going: the head, or the last irreversible block. */
  readonly blocksBehind: number
  /** What came from the node since the reading began, and connections opened for it. */
  readonly receivedBlocks: number
  readonly receivedBytes: number
  readonly connections: number
  /** Bytes of blocks received and not yet applied. */
  readonly heldBytes: number
}

const BEAT_MS = 1_000
/** Samples in the speed: seconds. */
const SPEED_SAMPLES = 5
/** A reader this close to the head is live. */
const LIVE_BLOCKS = 20

const BEAT = `
  INSERT INTO chain.heartbeats AS h (reader, beaten_at, committed_at, head_block, head_time, irreversible_block, blocks_per_second, state)
  VALUES ($1, now(), to_timestamp($2::double precision / 1000), $3, $4, $5, $6, $7)
  ON CONFLICT (reader) DO UPDATE SET beaten_at = EXCLUDED.beaten_at, committed_at = coalesce(EXCLUDED.committed_at, h.committed_at),
    head_block = EXCLUDED.head_block, head_time = EXCLUDED.head_time, irreversible_block = EXCLUDED.irreversible_block,
    blocks_per_second = EXCLUDED.blocks_per_second, state = EXCLUDED.state`

/** Tells once a second, to the database and to a listener, how a reader is doing. */
export class Heartbeat {
  private readonly reader: string
  private readonly listener: (status: ReaderStatus) => void
  private readonly pool: ReturnType<typeof createPool>
  private readonly timer: NodeJS.Timeout
  private readonly samples: { atMs: number; block: number }[] = []
  private session: ShipSession | null = null
  private reading: Reading | null = null
  private irreversibleOnly = false
  private onBeat: (status: ReaderStatus) => void = () => undefined
  private writing = false

  constructor(database: DatabaseAddress, reader: string, listener: (status: ReaderStatus) => void) {
    this.reader = reader
    this.listener = listener
    this.pool = createPool(database, {
      applicationName: `pronghorn heartbeat ${reader}`,
      max: 1,
      statementTimeoutMs: 5_000,
    })
    this.timer = setInterval(() => this.beat(), BEAT_MS)
  }

  /** Last committed block that was seen. */
  get block(): number {
    return this.reading?.status().block ?? 0
  }

  /**
   * Reports on this session and reading from now on, and calls `onBeat` at every beat. Live means at the head, or,
   * reading irreversible blocks only, at the last of them.
   */
  follow(
    session: ShipSession,
    reading: Reading,
    irreversibleOnly: boolean,
    onBeat: (status: ReaderStatus) => void,
  ): void {
    this.session = session
    this.reading = reading
    this.irreversibleOnly = irreversibleOnly
    this.onBeat = onBeat
  }

  /** Says once more that it stopped, and ends. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    const status = this.status('stopped')
    this.listener(status)
    await this.write(status)
    await this.pool.end().catch(() => undefined)
  }

  private beat(): void {
    const status = this.status()
    this.listener(status)
    this.onBeat(status)
    if (this.writing) return
    this.writing = true
    void this.write(status).finally(() => {
      this.writing = false
    })
  }

  private status(state?: ReaderStatus['state']): ReaderStatus {
    const reading = this.reading?.status()
    const session = this.session?.status()
    const head = Math.max(reading?.head ?? 0, session?.headNum ?? 0)
    const block = reading?.block ?? 0
    const target = this.irreversibleOnly ? (session?.libNum ?? head) : head
    const streaming = session?.state === 'streaming'
    return {
      reader: this.reader,
      state: state ?? (!streaming ? 'connecting' : target - block <= LIVE_BLOCKS ? 'live' : 'catching-up'),
      block,
      blockTimeMs: reading?.blockTimeMs ?? 0,
      head,
      irreversible: reading?.irreversible ?? 0,
      blocksPerSecond: this.speed(block),
      operations: reading?.operations ?? 0,
      forks: reading?.forks ?? 0,
      queuedBlocks: reading?.queuedBlocks ?? 0,
      undecodableActions: reading?.leftOut.undecodableActions ?? 0,
      unknownTables: reading?.leftOut.unknownTables ?? 0,
      committedAtMs: reading?.committedAtMs ?? null,
      blocksBehind: Math.max(0, target - block),
      receivedBlocks: session?.blocksReceived ?? 0,
      receivedBytes: session?.bytesReceived ?? 0,
      connections: session?.connections ?? 0,
      heldBytes: session?.heldBytes ?? 0,
    }
  }

  private speed(block: number): number {
    const now = performance.now()
    this.samples.push({ atMs: now, block })
    if (this.samples.length > SPEED_SAMPLES + 1) this.samples.shift()
    const first = this.samples[0]!
    const seconds = (now - first.atMs) / 1000
    return seconds > 0 ? Math.max(0, (block - first.block) / seconds) : 0
  }

  /** The heartbeat must never stop a reader: a database that is away shows in the commits. */
  private async write(status: ReaderStatus): Promise<void> {
    await this.pool
      .query(BEAT, [
        status.reader,
        this.reading?.status().committedAtMs ?? null,
        status.head,
        status.blockTimeMs,
        status.irreversible,
        status.blocksPerSecond,
        status.state,
      ])
      .catch(() => undefined)
  }
}
