import type { Logger } from '../../core/log/index.ts'
import type { Protocol } from '../decode/index.ts'
import type { FeedRecorder, UnitEvents } from '../feed/index.ts'
import type { BlockPosition, ResumePosition, ShipBlock, ShipConsumer, ShipSession } from '../ship/index.ts'
import { CommitUnit } from '../store/index.ts'
import type { FinalStatements, Store } from '../store/index.ts'
import type { AppliedBlock, ApplierCounters, BlockApplier } from './block-applier.ts'
import { mayBeOfBlock, namingBlocks } from './fault-in-unit.ts'
import type { FaultPlace } from './fault-in-unit.ts'
import type { ReaderObserver } from './observer.ts'
import { FIRST_UNIT_OPERATIONS, isFull, isWorthCommitting, nextUnitOperations } from './unit-policy.ts'
import type { UnitLoad } from './unit-policy.ts'

/** Blocks, forks and protocols that the session has delivered and that are not applied yet, in order. */
type Incoming =
  | { readonly kind: 'block'; readonly block: ShipBlock }
  | { readonly kind: 'fork'; readonly from: number }
  | { readonly kind: 'protocol'; readonly protocol: Protocol }

/** Status of `Reading` while blocks are read. */
export interface ReadingStatus {
  /** Last committed block, 0 before the first. */
  readonly block: number
  /** Time of the last committed block, epoch milliseconds. */
  readonly blockTimeMs: number
  /** Head of the node, 0 before the first message. */
  readonly head: number
  readonly irreversible: number
  /** Time of the last commit, epoch milliseconds; null before the first. */
  readonly committedAtMs: number | null
  readonly sinceCommitMs: number | null
  /**
   * Number of the newest applied block that was the head of the node when the node sent the block, and the time of the
   * block in epoch milliseconds. Both are 0 before the first such block.
   */
  readonly timedHead: number
  readonly timedHeadMs: number
  /** Number of blocks received and not applied yet. */
  readonly queuedBlocks: number
  /** Row operations committed so far. */
  readonly operations: number
  /** Number of rollbacks since reading began. */
  readonly forks: number
  /** Numbers of actions and rows that the applier skipped. */
  readonly leftOut: Readonly<ApplierCounters>
}

/** Constructor arguments of `Reading`, which applies the blocks of a session and commits them. */
export interface ReadingParts {
  readonly store: Store
  readonly applier: BlockApplier
  /** Resets the applier to the committed position, after a rollback. */
  readonly reload: () => Promise<void>
  readonly recorder: FeedRecorder
  /** First block to read. Blocks between the committed position and `startBlock` become a gap. */
  readonly startBlock: number
  /** Number of changed blocks from which a unit is worth a transaction (setting `db_group_blocks`). */
  readonly groupBlocks: number
  /** Whether each block is committed alone. */
  readonly singly: boolean
  readonly logger: Logger
  readonly observer: ReaderObserver
  readonly onError: (error: unknown) => void
}

/** Interval at which a waiting unit is checked, ms, so that its changes do not wait for the next block. */
const LINGER_MS = 250

/**
 * One uninterrupted read of the chain, from received blocks to commits. While catching up, blocks collect in a unit
 * until the database has written the previous unit. Each reversible block is a unit of its own. Any error stops the
 * reading; no block is skipped.
 */
export class Reading implements ShipConsumer<Protocol> {
  readonly #store: Store
  readonly #applier: BlockApplier
  readonly #reload: () => Promise<void>
  readonly #recorder: FeedRecorder
  readonly #groupBlocks: number
  readonly #singly: boolean
  readonly #logger: Logger
  readonly #observer: ReaderObserver
  readonly #onError: (error: unknown) => void
  #session: ShipSession | null = null
  readonly #incoming: Incoming[] = []
  #unit = new CommitUnit(false)
  /** Events of the unit; null before the unit's first block. */
  #unitEvents: UnitEvents | null = null
  #unitSince = 0
  #unitChangedBlocks = 0
  /** Limit of operations in a unit, adapted to the write speed of the previous units. */
  #maxUnitOperations = FIRST_UNIT_OPERATIONS
  /** True while the database writes or rolls back, or the applier reloads. */
  #busy = false
  /** True during a rollback: no block may be applied before the applier has reloaded its state. */
  #isRollingBack = false
  #hasEnded = false
  #failed = false
  #fault: FaultPlace | null = null
  #tail: BlockPosition[]
  #head = 0
  /** Last irreversible block as of the newest received message. */
  #irreversible: number
  /** Last irreversible block as of the newest applied block. */
  #appliedIrreversible: number
  #committedAtMs: number | null = null
  /** Time of the last commit on the monotonic clock of `performance`. */
  #committedMs: number | null = null
  #timedHead = { num: 0, timeMs: 0 }
  #operations = 0
  #forks = 0
  #linger: NodeJS.Timeout | null = null
  #idle: (() => void) | null = null

  constructor(parts: ReadingParts) {
    const { store, startBlock } = parts
    this.#store = store
    this.#applier = parts.applier
    this.#reload = parts.reload
    this.#recorder = parts.recorder
    this.#groupBlocks = parts.groupBlocks
    this.#singly = parts.singly
    this.#logger = parts.logger
    this.#observer = parts.observer
    this.#onError = parts.onError
    this.#tail = startBlock > (store.position?.num ?? 0) + 1 ? [] : knownPositions(store)
    this.#irreversible = store.knownBlocks[0]?.num ?? 0
    this.#appliedIrreversible = this.#irreversible
  }

  /** Sets the session that delivers the blocks. The pipeline reports released blocks to the session. */
  attach(session: ShipSession): void {
    this.#session = session
  }

  /** Position of the bad block in a failed commit unit, if the unit also has good blocks to commit; otherwise null. */
  get fault(): FaultPlace | null {
    return this.#fault
  }

  status(): ReadingStatus {
    return {
      block: this.#store.position?.num ?? 0,
      blockTimeMs: this.#store.position?.timeMs ?? 0,
      head: this.#head,
      irreversible: this.#irreversible,
      committedAtMs: this.#committedAtMs,
      sinceCommitMs: this.#committedMs === null ? null : performance.now() - this.#committedMs,
      timedHead: this.#timedHead.num,
      timedHeadMs: this.#timedHead.timeMs,
      queuedBlocks: this.#incoming.length,
      operations: this.#operations,
      forks: this.#forks,
      leftOut: this.#applier.counters,
    }
  }

  resumePosition(): ResumePosition {
    return {
      lastApplied: this.#tail.at(-1) ?? null,
      havePositions: this.#tail,
      irreversibleFloor: this.#tail[0]?.num ?? 0,
    }
  }

  onProtocol(protocol: Protocol): void {
    // Queue the protocol behind the waiting blocks, which the node encoded with the previous protocol.
    this.#incoming.push({ kind: 'protocol', protocol })
    this.#drain()
  }

  onBlock(block: ShipBlock): void {
    if (this.#failed) return
    this.#head = block.head.num
    this.#remember(block)
    this.#incoming.push({ kind: 'block', block })
    this.#drain()
  }

  onFork(from: number): void {
    if (this.#failed) return
    this.#tail = this.#tail.filter((position) => position.num < from)
    this.#incoming.push({ kind: 'fork', from })
    this.#drain()
  }

  onEnd(): void {
    this.#hasEnded = true
    this.#drain()
  }

  /** Applies and commits all received blocks. Resolves after the last commit or after an error. */
  async finish(): Promise<void> {
    this.#hasEnded = true
    this.#drain()
    while (!this.#failed && (this.#busy || this.#incoming.length > 0 || this.#unit.blocks > 0)) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    this.#stop()
  }

  /** Stops without committing further blocks; resolves when the database has finished its current work. */
  async abandon(): Promise<void> {
    this.#stop()
    while (this.#busy) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
  }

  #stop(): void {
    this.#failed = true
    if (this.#linger) clearTimeout(this.#linger)
    this.#linger = null
  }

  /**
   * Stores the positions of the reversible blocks and of the newest irreversible block. The session sends these
   * positions to the node on reconnect.
   */
  #remember(block: ShipBlock): void {
    const irreversible = Math.min(block.lib.num, block.num)
    if (irreversible > this.#irreversible) this.#irreversible = irreversible
    const position = { num: block.num, id: block.id }
    if (this.#tail.length === 0 || block.num <= this.#irreversible) this.#tail = [position]
    else {
      while (this.#tail.length > 1 && this.#tail[1]!.num <= this.#irreversible) this.#tail.shift()
      this.#tail.push(position)
    }
  }

  #drain(): void {
    try {
      while (!this.#failed && this.#step());
    } catch (error) {
      this.#fail(error)
    }
    if (!this.#busy) this.#wake()
  }

  /**
   * Processes the next received block, fork or protocol. Returns false if nothing is left to process, or if the next
   * step has to wait for the database.
   */
  #step(): boolean {
    if (this.#isRollingBack) return false
    const next = this.#incoming[0]
    if (next === undefined) return this.#commitIfDue()
    if (next.kind === 'protocol') {
      this.#incoming.shift()
      this.#applier.useProtocol(next.protocol)
      return true
    }
    if (next.kind === 'fork') {
      if (this.#busy) return false
      if (this.#unit.blocks > 0) {
        // A unit with waiting blocks contains only irreversible blocks, which the fork does not undo: commit the unit
        // first.
        this.#startCommit()
        return false
      }
      this.#incoming.shift()
      this.#isRollingBack = true
      this.#work(async () => {
        await this.#rollBack(next.from)
        this.#isRollingBack = false
      })
      return false
    }
    const reversible = next.block.num > Math.min(next.block.lib.num, next.block.num)
    if (reversible || this.#unit.reversible || this.#singly) return this.#stepLive(next.block, reversible)
    // Either all blocks of a unit are published or none. If only one of the unit and the next block is to be published,
    // commit the unit first.
    const isOther =
      this.#unitEvents !== null && this.#unitEvents.isPublished !== this.#recorder.publishes(next.block)
    if (isOther || isFull(this.#load(next.block), this.#maxUnitOperations)) {
      if (this.#busy) return false
      this.#startCommit()
    }
    this.#applyNext(next.block)
    this.#commitIfDue()
    return true
  }

  /**
   * Applies a block as a unit of its own, once all earlier blocks are committed. Used for reversible blocks, and for
   * committing blocks one by one after a fault.
   */
  #stepLive(block: ShipBlock, reversible: boolean): boolean {
    if (this.#busy) return false
    if (this.#unit.blocks > 0) {
      this.#startCommit()
      return false
    }
    this.#unit = new CommitUnit(reversible)
    this.#applyNext(block)
    if (reversible || this.#singly) this.#startCommit()
    return !this.#busy
  }

  #applyNext(block: ShipBlock): void {
    this.#incoming.shift()
    if (this.#unit.blocks === 0) {
      this.#unitSince = performance.now()
      this.#unitChangedBlocks = 0
    }
    const before = this.#unit.operations
    const events = (this.#unitEvents ??= this.#recorder.open(block))
    const applied = this.#apply(block, events)
    this.#recorder.take(events, block, applied.events)
    if (block.num >= block.head.num) this.#timedHead = { num: block.num, timeMs: applied.timeMs }
    if (this.#unit.operations > before) this.#unitChangedBlocks++
    // Advance the last irreversible block with applied blocks only: a later message may come from another branch, while
    // blocks of this branch still have to be undone.
    this.#appliedIrreversible = Math.max(this.#appliedIrreversible, Math.min(block.lib.num, block.num))
    this.#unit.closeBlock({ num: block.num, id: Uint8Array.from(block.idBytes), timeMs: applied.timeMs })
    this.#session?.release(1, block.bytes)
  }

  #apply(block: ShipBlock, events: UnitEvents): AppliedBlock {
    try {
      return this.#applier.apply(block, this.#unit, this.#recorder.capture(events))
    } catch (error) {
      // The unit contains part of the failed block, so the blocks before the failed block must be read again into a new
      // unit.
      this.#fault = { last: block.num - 1, singly: false, node: block.node }
      throw error
    }
  }

  #load(latest: ShipBlock | null): UnitLoad {
    const last = this.#unit.last?.num ?? 0
    return {
      operations: this.#unit.operations,
      bytes: this.#unit.bytes,
      changedBlocks: this.#unitChangedBlocks,
      ageMs: performance.now() - this.#unitSince,
      blocksBehind: latest === null ? this.#head - last : latest.head.num - last,
    }
  }

  #commitIfDue(): boolean {
    if (this.#busy || this.#unit.blocks === 0) return false
    // Publishing must not wait, so units with events are committed at once.
    const isDue = this.#hasEnded || this.#unitEvents?.isPublished === true
    if (isDue || isWorthCommitting(this.#load(null), this.#groupBlocks)) {
      this.#startCommit()
      return true
    }
    this.#linger ??= setTimeout(() => {
      this.#linger = null
      this.#drain()
    }, LINGER_MS)
    return false
  }

  #startCommit(): void {
    if (this.#busy || this.#unit.blocks === 0) return
    const unit = this.#unit
    const irreversible = this.#appliedIrreversible
    const finalStatements = this.#unitEvents
      ? this.#recorder.commitStatements(this.#unitEvents, unit.last!.num)
      : undefined
    this.#unit = new CommitUnit(false)
    this.#unitEvents = null
    this.#work(async () => {
      const startedMs = performance.now()
      await this.#commit(unit, irreversible, finalStatements)
      this.#recorder.sendWritten()
      this.#operations += unit.operations
      this.#committedAtMs = Date.now()
      this.#committedMs = performance.now()
      const durationMs = this.#committedMs - startedMs
      if (!unit.reversible)
        this.#maxUnitOperations = nextUnitOperations(this.#maxUnitOperations, unit.operations, durationMs)
      this.#observer.committed({
        durationMs,
        blocks: unit.blocks,
        isReversible: unit.reversible,
        rows: unit.rowCounts(),
      })
    })
  }

  async #commit(unit: CommitUnit, irreversible: number, finalStatements?: FinalStatements): Promise<void> {
    try {
      await this.#store.commit(unit, irreversible, finalStatements)
    } catch (error) {
      const last = unit.last!
      if (mayBeOfBlock(error) && unit.blocks > 1) this.#fault = { last: last.num, singly: true, node: null }
      throw namingBlocks(error, unit.blocks, last)
    }
  }

  async #rollBack(from: number): Promise<void> {
    const position = this.#store.position
    if (position !== null && position.num >= from) {
      await this.#store.rollBackTo(from, this.#recorder.forkStatements(from))
      this.#recorder.sendWritten()
      this.#forks++
      this.#observer.rolledBack(position.num - from + 1)
      this.#logger.info({ from, was: position.num }, 'the chain forked: blocks undone')
    }
    await this.#reload()
  }

  #work(task: () => Promise<void>): void {
    this.#busy = true
    task().then(
      () => {
        this.#busy = false
        this.#drain()
      },
      (error: unknown) => {
        this.#busy = false
        this.#fail(error)
      },
    )
  }

  #fail(error: unknown): void {
    if (this.#failed) return this.#wake()
    this.#stop()
    this.#wake()
    this.#onError(error)
  }

  #wake(): void {
    const waiting = this.#idle
    this.#idle = null
    waiting?.()
  }
}

function knownPositions(store: Store): BlockPosition[] {
  return store.knownBlocks.map((block) => ({ num: block.num, id: Buffer.from(block.id).toString('hex') }))
}
