import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createPublisher } from '../../services/filler/index.ts'
import type { Chain } from './chains.ts'
import { withOwnClock } from './clock.ts'
import { SimulatedDatabase } from './databases.ts'
import type { CommittedPosition } from './databases.ts'
import { deepForkExcuses, excusesOf } from './excuses.ts'
import { findFinalViolations } from './final-rules.ts'
import { findViolations } from './invariants.ts'
import { ThreadlessLife } from './life.ts'
import type { Life } from './life.ts'
import { SimulatedNode } from './node.ts'
import type { Happening, SeedPlan } from './plan.ts'
import { ProcessLife } from './process-life.ts'
import { sessionOf } from './sessions.ts'
import { readerNames } from './readers.ts'
import { readersOf } from './settings.ts'
import { SimulatedStore } from './store.ts'
import { Supervisor } from './supervisor.ts'
import type { Tally } from './tally.ts'

const POLL_MS = 12
/**
 * Number of polls without progress after which a reader without active faults counts as stuck. Polls are
 * counted instead of time, because polls also take longer on a busy machine.
 */
const PATIENCE = 4_000
/** Maximum number of polls for a reader's progress while a fault may hinder the reader. */
const STEP_PATIENCE = 25
/** Maximum number of the filler's log lines that are kept for a failure report. */
const LINES_KEPT = 400

/** Dependencies of a seed's run. */
export interface SeedRunOptions {
  readonly plan: SeedPlan
  readonly chain: Chain
  readonly server: DatabaseAddress
  readonly admin: pg.Pool
  readonly tally: Tally
  /** Number of the run; different from the numbers of concurrent runs. */
  readonly place: number
}

export interface SeedResult {
  /** Violated rules, one a line; empty if there are none. */
  readonly violations: readonly string[]
  /** Last log lines of the filler and the events of the plan, in order. */
  readonly log: readonly string[]
}

/** Runs a seed: its events in sequence, then the final checks. */
export function runSeed(options: SeedRunOptions): Promise<SeedResult> {
  return withOwnClock(async (clock) => {
    const database = await SimulatedDatabase.create(options.admin, {
      server: options.server,
      name: `simulation_${options.place}`,
      readers: options.plan.readers,
    })
    const run = new SeedRun(options, database, (offsetMs) => {
      clock.offsetMs = offsetMs
    })
    try {
      return await run.run()
    } finally {
      await run.end()
      await database.drop()
    }
  })
}

class SeedRun {
  readonly #options: SeedRunOptions
  readonly #database: SimulatedDatabase
  readonly #setClock: (offsetMs: number) => void
  readonly #nodes: SimulatedNode[]
  #urls: string[] = []
  readonly #store = new SimulatedStore()
  readonly #violations: string[] = []
  readonly #log: string[] = []
  readonly #excuses = new Set<string>()
  /** One supervisor per reader. */
  readonly #fillers: readonly Supervisor[]
  /** Lowest block number that the position of each reader may have. */
  readonly #floors: number[]
  readonly #frozenNodes = new Set<SimulatedNode>()

  constructor(options: SeedRunOptions, database: SimulatedDatabase, setClock: (offsetMs: number) => void) {
    this.#options = options
    this.#database = database
    this.#setClock = setClock
    const { chain, plan, tally } = options
    this.#floors = readersOf(plan).map(() => 0)
    this.#fillers = readersOf(plan).map(
      (_, reader) =>
        new Supervisor({
          start: () => this.#startFiller(reader),
          endSessions: () => database.endSessions(),
          lease: () => database.lease(readerNames[reader]!),
          excuses: this.#excuses,
          onViolation: (text) => this.#violations.push(text),
          onEnd: ({ code, text }) => {
            this.#note(`> the filler of ${readerNames[reader]!} exited:  ${text}`)
            tally.add(`exited with ${code ?? 'success'}`)
          },
        }),
    )
    this.#nodes = Array.from(
      { length: plan.nodes },
      () => new SimulatedNode({ ...chain.source, libLagBlocks: plan.libLagBlocks }, 1),
    )
    if (plan.readers === 2) for (const node of this.#nodes) node.keepLast()
  }

  async run(): Promise<SeedResult> {
    const { plan, chain } = this.#options
    this.#urls = await Promise.all(this.#nodes.map((node) => node.start()))
    await Promise.all(this.#fillers.map((filler) => filler.start()))
    for (const { happening, then, check } of plan.steps) {
      this.#note(`> ${JSON.stringify(happening)} then ${then}`)
      for (const code of excusesOf(happening)) this.#excuses.add(code)
      await this.#happen(happening)
      if (then === 'caught-up') await this.#catchUp(STEP_PATIENCE)
      else await delay(then)
      await this.#readPositions()
      if (check) this.#violations.push(...(await findViolations(this.#database.address)))
      if (this.#violations.length > 0) break
    }
    if (this.#violations.length === 0) await this.#finish(chain)
    return { violations: this.#violations, log: this.#log }
  }

  /** Kills all fillers and stops all nodes, whatever they are doing. */
  async end(): Promise<void> {
    await Promise.all(this.#fillers.map((filler) => filler.end()))
    await Promise.all(this.#nodes.map((node) => node.stop()))
  }

  async #finish(chain: Chain): Promise<void> {
    this.#note('> healthy to the end')
    await this.#database.admit()
    for (const { name, count } of await this.#database.countRefusals())
      this.#options.tally.add(`statements ${name}`, count)
    for (const filler of this.#fillers) filler.killReplaced()
    this.#frozenNodes.clear()
    const { irreversibleOnly, readers } = this.#options.plan
    for (const node of this.#nodes) {
      node.clearFaults()
      node.thaw()
      node.forkBack(chain.plan.tree.length)
      if (irreversibleOnly) node.finalize()
    }
    // A reader that derives values from rows of the other reader completes these values with its next block. Therefore
    // the chain's last block is added only after both readers have indexed all earlier blocks.
    if (readers === 2) await this.#catchUp(PATIENCE)
    for (const node of this.#nodes) {
      node.addLast()
      if (irreversibleOnly) node.finalize()
    }
    if (await this.#endAtGoal())
      this.#violations.push(...(await findFinalViolations(this.#database, chain, readers)))
  }

  /** Waits until the readers have indexed the final chain, and stops them; false if a rule is violated. */
  async #endAtGoal(): Promise<boolean> {
    for (;;) {
      if (!(await this.#catchUp(PATIENCE))) {
        const positions = (await this.#readPositions()).map(({ num }) => num)
        this.#violations.push(
          `the readers stay at block ${positions.join(' and ')} although no fault is active`,
        )
      }
      if (this.#violations.length > 0) return false
      await Promise.all(this.#fillers.map((filler) => filler.stop()))
      // A reader may reach the last block of the final chain before it receives the last fork. A reader that is
      // stopped while it undoes blocks of that fork is behind the last block, and has to be started again.
      const goal = this.#goal(this.#nodes[0]!)
      if ((await this.#readPositions()).every(({ id }) => id === goal)) return true
      await Promise.all(this.#fillers.map((filler) => filler.start()))
    }
  }

  async #happen(happening: Happening): Promise<void> {
    const { tally, plan } = this.#options
    const node = this.#nodes['node' in happening ? happening.node : 0]!
    const filler = this.#fillers['reader' in happening ? happening.reader : 0]!
    switch (happening.kind) {
      case 'grow':
        node.grow(happening.blocks)
        break
      case 'fork':
        if (happening.isSingle) await this.#forkOne(node, happening.branch, happening.blocks)
        else this.#fork(node, happening.branch, happening.blocks)
        break
      case 'fork-back':
        if (!node.isOnMain) tally.add('fork back to the main branch')
        node.forkBack(node.height + happening.blocks)
        break
      case 'restart':
        node.dropSessions()
        if (happening.branch !== null) this.#fork(node, happening.branch, 1)
        else if (happening.behind > 0) {
          node.setBack(happening.behind)
          tally.add('node restarted with fewer blocks')
        }
        break
      case 'reconnect':
        node.dropSessions()
        tally.add('sessions dropped')
        break
      case 'sessions':
        node.faultNext(
          ...happening.faults.map((fault) =>
            sessionOf(
              fault,
              () => tally.add(`frames: ${fault.kind}`),
              () => node.pump(),
            ),
          ),
        )
        node.dropSessions()
        node.grow(happening.blocks)
        break
      case 'freeze-node':
        node.freeze()
        this.#frozenNodes.add(node)
        tally.add('node frozen')
        break
      case 'thaw-node':
        node.thaw()
        this.#frozenNodes.delete(node)
        break
      case 'end-database-sessions':
        tally.add('database sessions ended', await this.#database.endSessions())
        break
      case 'cancel-statements':
        tally.add('statements cancelled', await this.#database.cancelStatements())
        break
      case 'refuse': {
        const { place, state, message, times } = happening
        await this.#database.refuse(place, state, message, times)
        break
      }
      case 'cut-database':
        filler.life?.proxy.cutAfterBytes(happening.bytes, () => tally.add('database connections cut'))
        break
      case 'database-unavailable': {
        const proxy = filler.life?.proxy
        proxy?.cut(true)
        tally.add('database unavailable')
        setTimeout(() => {
          if (filler.life?.proxy === proxy) proxy?.admit()
        }, happening.ms)
        break
      }
      case 'freeze-database': {
        const proxy = filler.life?.proxy
        proxy?.freeze()
        tally.add('database frozen')
        setTimeout(() => proxy?.thaw(), happening.ms)
        break
      }
      case 'clock':
        this.#setClock(happening.offsetMs)
        tally.add('clock set')
        break
      case 'store':
        this.#store.state = happening.state
        break
      case 'sigterm':
        tally.add(plan.isProcess ? 'filler process stopped and restarted' : 'filler stopped and restarted')
        await filler.stop()
        await filler.start()
        break
      case 'sigkill':
        tally.add(plan.isProcess ? 'filler process killed' : 'filler killed')
        await filler.kill()
        await filler.start()
        break
      case 'zombie':
        tally.add('hung filler replaced, continued later')
        await filler.replace()
        break
      case 'rival':
        if (
          !(await this.#passes(
            async () => (await this.#database.lease(readerNames[happening.reader]!)).isLocked,
          ))
        )
          break
        tally.add('second filler started while the first holds the lease')
        node.grow(happening.blocks)
        await filler.meetRival(this.#isHindered)
        break
      case 'lost-lock':
        await this.#loseLock(happening.reader, node, happening.blocks)
        break
      case 'kill-in-undo':
        await this.#killInUndo(filler, node, happening)
        break
    }
  }

  /** Whether a fault may hinder the fillers: an unavailable database, or a frozen node. */
  get #isHindered(): boolean {
    return this.#excuses.has('DATABASE_UNAVAILABLE') || this.#frozenNodes.size > 0
  }

  /** Makes a filler's session lose its lock, and lets another filler take the lease. */
  async #loseLock(reader: number, node: SimulatedNode, blocks: number): Promise<void> {
    await this.#database.loseLock(readerNames[reader]!)
    node.grow(1)
    const isLost = await this.#passes(async () => !(await this.#database.isLosingLock()))
    await this.#database.keepLock()
    if (!isLost) return
    this.#options.tally.add('lock lost, lease taken by another filler')
    await this.#fillers[reader]!.displace(this.#isHindered, async () => {
      // The reader may be ahead of this node, because another node may have sent later blocks to the reader.
      const { num } = await this.#database.position(readerNames[reader]!)
      node.grow(Math.max(num - node.head().num, 0) + blocks)
      const { irreversibleOnly } = this.#options.plan
      return (irreversibleOnly ? node.lib() : node.head()).num > num
    })
  }

  async #killInUndo(
    filler: Supervisor,
    node: SimulatedNode,
    { branch, blocks }: Readonly<Record<'branch' | 'blocks', number>>,
  ): Promise<void> {
    await this.#database.holdRollback()
    try {
      await this.#forkOne(node, branch, blocks)
      if (!(await this.#passes(() => this.#database.isHoldingRollback()))) return
      this.#options.tally.add('filler killed during a rollback')
      await filler.kill()
    } finally {
      await this.#database.releaseRollback()
    }
    await filler.start()
  }

  /** Polls a condition up to STEP_PATIENCE times. */
  async #passes(condition: () => Promise<boolean>): Promise<boolean> {
    for (let left = STEP_PATIENCE; left > 0; left--) {
      if (await condition()) return true
      await delay(POLL_MS)
    }
    return false
  }

  /** Forks a single block: moves the node one block past a branch's parent, waits, and switches it to the branch. */
  async #forkOne(node: SimulatedNode, choice: number, blocks: number): Promise<void> {
    const { base, tree } = this.#options.chain.source
    if (!node.isOnMain) node.forkBack(node.height)
    const ahead = [...tree.lost.keys()].filter((branch) => tree.lost[branch]!.parent >= node.head().num)
    if (ahead.length === 0) {
      this.#fork(node, choice, blocks)
      return
    }
    const branch = ahead[choice % ahead.length]!
    node.grow(tree.lost[branch]!.parent + 1 - base.length - node.height)
    await this.#catchUp(STEP_PATIENCE)
    this.#options.tally.add('fork of one block')
    node.forkTo(branch, blocks)
  }

  /**
   * Returns the node to the main branch, then switches it to one of the lost branches (`tree.lost`) whose parent is
   * below the head of the node, if there is such a branch.
   */
  #fork(node: SimulatedNode, choice: number, blocks: number): void {
    const { tally, chain } = this.#options
    if (!node.isOnMain) node.forkBack(node.height)
    const { lost } = chain.source.tree
    const possible = [...lost.keys()].filter((branch) => lost[branch]!.parent < node.head().num)
    if (possible.length === 0) return
    const branch = possible[choice % possible.length]!
    const { parent } = lost[branch]!
    const depth = node.head().num - parent
    const isDeep = parent < node.lib().num
    tally.add(isDeep ? 'fork below the irreversible block' : depth > 5 ? 'fork of 6 blocks or more' : 'fork')
    if (isDeep) for (const code of deepForkExcuses) this.#excuses.add(code)
    node.forkTo(branch, blocks)
  }

  #startFiller(reader: number): Promise<Life> {
    const settings = readersOf(this.#options.plan)[reader]!
    const { plan, chain, server, tally } = this.#options
    const publish = createPublisher({
      store: this.#store,
      logger: { info: () => undefined, warn: () => undefined },
      onMessage: (_, outcome) => {
        if (outcome === 'dropped') tally.add('messages dropped because the key-value store had failed')
      },
    })
    return (plan.isProcess ? ProcessLife : ThreadlessLife).start({
      settings,
      database: { ...server, database: this.#database.address.database },
      chainId: chain.source.chainId,
      nodes: this.#urls,
      buildsIndexes: plan.buildsIndexes,
      send: (channel, text) => publish(settings.name, channel, text),
      log: (line) => this.#note(line.trimEnd()),
    })
  }

  /** Waits until each reader is at the head of a node; false after `looks` polls without progress. */
  async #catchUp(looks: number): Promise<boolean> {
    let before = ''
    for (let left = looks; left > 0; left--) {
      const positions = await this.#readPositions()
      if (this.#violations.length > 0) return true
      const goals = this.#nodes.map((node) => this.#goal(node))
      if (positions.every(({ id }) => goals.includes(id))) return true
      const now = positions.map(({ id }) => id).join()
      if (now !== before) left = looks
      before = now
      await delay(POLL_MS)
    }
    return false
  }

  #goal(node: SimulatedNode): string {
    return (this.#options.plan.irreversibleOnly ? node.lib() : node.head()).id.toString('hex')
  }

  /** Reads the positions of the readers. They must be blocks of the chain, and not below the irreversible block. */
  #readPositions(): Promise<CommittedPosition[]> {
    return Promise.all(this.#fillers.map((_, reader) => this.#readPosition(reader)))
  }

  async #readPosition(reader: number): Promise<CommittedPosition> {
    const position = await this.#database.position(readerNames[reader]!)
    const floor = this.#floors[reader]!
    if (!this.#options.chain.ids.has(position.id))
      this.#violations.push(
        `the position of a reader, ${position.num} ${position.id}, is not a block of the chain`,
      )
    if (position.num < floor)
      this.#violations.push(
        `the position of a reader, ${position.num}, is below block ${floor}, to which the reader could no longer roll back`,
      )
    this.#floors[reader] = Math.max(floor, position.floor)
    return position
  }

  #note(line: string): void {
    this.#log.push(line)
    if (this.#log.length > LINES_KEPT) this.#log.shift()
  }
}
