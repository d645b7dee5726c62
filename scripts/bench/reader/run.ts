/** A chain whose blocks a reader commits into a generated database. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'
import type { ContinuedChain } from '../../lab/index.ts'
import { sharedNow } from '../latency/messages.ts'
import type { FillerMessage, LatencySetting } from '../latency/messages.ts'
import { percentile } from '../report.ts'
import { kinds } from './kinds.ts'
import type { EventSource, KindName } from './kinds.ts'
import { GENERATED_READER } from './entities.ts'

const PATIENCE_MS = 600_000

/** Number of events of each kind. */
export type Made = ReadonlyMap<KindName, number>

/** How many blocks are produced at which rate, and the number of events of a block. */
interface Pace {
  readonly blocks: number
  readonly perSecond: number
  readonly events: number
}

/** Chain and reader of a run, and the times of their blocks. */
export class ReaderRun {
  readonly #source: EventSource
  readonly #ending = new AbortController()
  #filler: ReturnType<typeof fork> | undefined
  /** Times at which blocks were sent and committed, in the order of the blocks. */
  readonly #framesMs: number[] = []
  readonly #commitsMs: number[] = []

  constructor(source: EventSource) {
    this.#source = source
  }

  /** Starts the process of the reader. */
  startReader(database: DatabaseAddress, chain: LatencySetting['chain']): void {
    const setting: LatencySetting = { database, reader: GENERATED_READER, chain }
    const path = import.meta.filename.replace(/reader[/\\]run\.(js|ts)$/, 'latency/filler-process.$1')
    const filler = fork(path, [JSON.stringify(setting)], { serialization: 'advanced' })
    filler.on('message', ({ committed, atMs }: FillerMessage) => {
      while (this.#commitsMs.length < committed) this.#commitsMs.push(atMs)
    })
    filler.once('exit', () => {
      this.#ending.abort(new Error('the process of the reader has ended'))
    })
    this.#filler = filler
  }

  async stop(): Promise<void> {
    const filler = this.#filler
    if (filler?.connected !== true) return
    filler.disconnect()
    await once(filler, 'exit')
  }

  /** Produces a block, and notes the time at which the node sends it. */
  produce(transactions: Parameters<ContinuedChain['produceBlock']>[0]): void {
    this.#source.chain.produceBlock(transactions)
    this.#framesMs.push(sharedNow())
  }

  /** Waits until all blocks are committed. */
  async committed(): Promise<void> {
    const untilMs = sharedNow() + PATIENCE_MS
    while (this.#commitsMs.length < this.#framesMs.length) {
      if (sharedNow() > untilMs) throw new Error(`the last block is not committed after ${PATIENCE_MS} ms`)
      await delay(10, undefined, { signal: this.#ending.signal })
    }
  }

  /** Produces blocks at the rate. @param next kind of the next event; undefined for no event. */
  async produceAtRate({ blocks, perSecond, events }: Pace, next: () => KindName | undefined): Promise<Made> {
    const made = new Map<KindName, number>()
    const startMs = sharedNow()
    for (let block = 0; block < blocks; block++) {
      const transactions = []
      for (let event = 0; event < events; event++) {
        const kind = next()
        const actions = kind && kinds[kind](this.#source)
        if (!kind || !actions) continue
        transactions.push(actions)
        made.set(kind, (made.get(kind) ?? 0) + 1)
      }
      await delay(Math.max(0, startMs + (block * 1_000) / perSecond - sharedNow()), undefined, {
        signal: this.#ending.signal,
      })
      this.produce(transactions)
    }
    return made
  }

  /** Number of blocks that were sent. */
  get sent(): number {
    return this.#framesMs.length
  }

  /** Number of blocks that were sent and are not committed. */
  get behind(): number {
    return this.#framesMs.length - this.#commitsMs.length
  }

  /** Seconds from the frame of a block to the last commit. */
  secondsFrom(first: number): number {
    return (this.#commitsMs.at(-1)! - this.#framesMs[first]!) / 1_000
  }

  /** Times from frame to commit of the blocks from `first` on, ms. */
  timesFrom(first: number) {
    const times = this.#framesMs.slice(first).map((frame, at) => this.#commitsMs[first + at]! - frame)
    const of = (share: number): number => Number(percentile(times, share).toFixed(1))
    return { p50: of(0.5), p95: of(0.95), p99: of(0.99), max: of(1) }
  }
}
