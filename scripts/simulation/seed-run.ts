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
import { settingsOf, simulatedReader } from './settings.ts'
import { SimulatedStore } from './store.ts'
import { Supervisor } from './supervisor.ts'
import type { Tally } from './tally.ts'

const POLL_MS = 12
/**
 * Looks at a position that does not move, after which a reader that nothing hinders is stuck. Looks, because each takes the
 * database's answer: where the machine has little time for either, they take longer too.
 */
const PATIENCE = 4_000
/** The same for a reader that something may hinder. */
const STEP_PATIENCE = 25
/** Lines of the filler's log that a failure shows. */
const LINES_KEPT = 400

/** What a seed's run needs from outside. */
export interface SeedRunOptions {
  readonly plan: SeedPlan
  readonly chain: Chain
  readonly server: DatabaseAddress
  readonly admin: pg.Pool
  readonly tally: Tally
  /** Differs between runs that happen at the same time. */
  readonly place: number
}

/** What came out of a seed. */
export interface SeedResult {
  /** Broken rules, one a line; empty when all is well. */
  readonly violations: readonly string[]
  /** The filler's last lines and what happened, in order. */
  readonly log: readonly string[]
}

/** Runs a seed: its faults, one after the other, then what must hold. */
export function runSeed(options: SeedRunOptions): Promise<SeedResult> {
  return withOwnClock(async (clock) => {
    const database = await SimulatedDatabase.create(
      options.admin,
      options.server,
      `simulation_${options.place}`,
    )
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
  readonly #filler: Supervisor
  #floor = 0

  constructor(options: SeedRunOptions, database: SimulatedDatabase, setClock: (offsetMs: number) => void) {
    this.#options = options
    this.#database = database
    this.#setClock = setClock
    const { chain, plan, tally } = options
    this.#filler = new Supervisor({
      start: () => this.#startFiller(),
      endSessions: () => database.endSessions(),
      excuses: this.#excuses,
      onViolation: (text) => this.#violations.push(text),
      onEnd: ({ code, text }) => {
        this.#note(`> the filler ended: ${text}`)
        tally.add(`ended with ${code ?? 'success'}`)
      },
    })
    this.#nodes = Array.from(
      { length: plan.nodes },
      () => new SimulatedNode({ ...chain.source, libLagBlocks: plan.libLagBlocks }, 1),
    )
  }

  async run(): Promise<SeedResult> {
    const { plan, chain } = this.#options
    this.#urls = await Promise.all(this.#nodes.map((node) => node.start()))
    await this.#filler.start()
    for (const { happening, then, check } of plan.steps) {
      this.#note(`> ${JSON.stringify(happening)} then ${then}`)
      for (const code of excusesOf(happening)) this.#excuses.add(code)
      await this.#happen(happening)
      if (then === 'caught-up') await this.#catchUp(STEP_PATIENCE)
      else await delay(then)
      await this.#readPosition()
      if (check) this.#violations.push(...(await findViolations(this.#database.address)))
      if (this.#violations.length > 0) break
    }
    if (this.#violations.length === 0) await this.#finish(chain)
    return { violations: this.#violations, log: this.#log }
  }

  /** Ends everything, whatever the state. */
  async end(): Promise<void> {
    await this.#filler.end()
    await Promise.all(this.#nodes.map((node) => node.stop()))
  }

  async #finish(chain: Chain): Promise<void> {
    this.#note('> healthy to the end')
    await this.#database.admit()
    for (const { name, count } of await this.#database.countRefusals())
      this.#options.tally.add(`statements ${name}`, count)
    this.#filler.killReplaced()
    for (const node of this.#nodes) {
      node.clearFaults()
      node.thaw()
      node.forkBack(chain.plan.tree.length)
      if (this.#options.plan.irreversibleOnly) node.finalize()
    }
    if (await this.#endAtGoal()) this.#violations.push(...(await findFinalViolations(this.#database, chain)))
  }

  /** Lets the reader catch up and ends it; false when a rule is broken then. */
  async #endAtGoal(): Promise<boolean> {
    for (;;) {
      if (!(await this.#catchUp(PATIENCE))) {
        const { num } = await this.#database.position()
        this.#violations.push(`the reader stays at block ${num} although nothing hinders it`)
      }
      if (this.#violations.length > 0) return false
      await this.#filler.stop()
      // A reader that reached the goal before it received the last fork ends while it undoes that fork.
      if ((await this.#readPosition()).id === this.#goal(this.#nodes[0]!)) return true
      await this.#filler.start()
    }
  }

  async #happen(happening: Happening): Promise<void> {
    const { tally, plan } = this.#options
    const node = 'node' in happening ? this.#nodes[happening.node]! : this.#nodes[0]!
    switch (happening.kind) {
      case 'grow':
        node.grow(happening.blocks)
        break
      case 'fork':
        this.#fork(node, happening.branch, happening.blocks)
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
          tally.add('node restarted behind')
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
        tally.add('node frozen')
        break
      case 'thaw-node':
        node.thaw()
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
        this.#filler.life?.proxy.cutAfterBytes(happening.bytes, () => tally.add('database connections cut'))
        break
      case 'database-unavailable': {
        const proxy = this.#filler.life?.proxy
        proxy?.cut(true)
        tally.add('database unavailable')
        setTimeout(() => {
          if (this.#filler.life?.proxy === proxy) proxy?.admit()
        }, happening.ms)
        break
      }
      case 'freeze-database': {
        const proxy = this.#filler.life?.proxy
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
        tally.add(plan.isProcess ? 'process stopped and started again' : 'stopped and started again')
        await this.#filler.stop()
        await this.#filler.start()
        break
      case 'sigkill':
        tally.add(plan.isProcess ? 'process killed' : 'killed')
        await this.#filler.kill()
        await this.#filler.start()
        break
      case 'zombie':
        tally.add('left for dead, alive later')
        await this.#filler.replace()
        break
    }
  }

  /** Takes the node to a lost branch that leaves the main one below its head, if there is one. */
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

  #startFiller(): Promise<Life> {
    const { plan, chain, server, tally } = this.#options
    const publish = createPublisher({
      store: this.#store,
      logger: { info: () => undefined, warn: () => undefined },
      onMessage: (_, outcome) => {
        if (outcome === 'dropped') tally.add('messages that the lost store did not take')
      },
    })
    return (plan.isProcess ? ProcessLife : ThreadlessLife).start({
      settings: settingsOf(plan),
      database: { ...server, database: this.#database.address.database },
      chainId: chain.source.chainId,
      nodes: this.#urls,
      send: (channel, text) => publish(simulatedReader.name, channel, text),
      log: (line) => this.#note(line.trimEnd()),
    })
  }

  /** Waits until the reader has what its node has; false when its position did not move for so many looks. */
  async #catchUp(looks: number): Promise<boolean> {
    let before = ''
    for (let left = looks; left > 0; left--) {
      const position = await this.#readPosition()
      if (this.#violations.length > 0) return true
      if (this.#nodes.some((node) => position.id === this.#goal(node))) return true
      if (position.id !== before) left = looks
      before = position.id
      await delay(POLL_MS)
    }
    return false
  }

  #goal(node: SimulatedNode): string {
    return (this.#options.plan.irreversibleOnly ? node.lib() : node.head()).id.toString('hex')
  }

  /** The position, which must always be a block of the chain, and never below what cannot be undone. */
  async #readPosition(): Promise<CommittedPosition> {
    const position = await this.#database.position()
    if (!this.#options.chain.ids.has(position.id))
      this.#violations.push(`the position ${position.num} ${position.id} is no block of the chain`)
    if (position.num < this.#floor)
      this.#violations.push(
        `the position ${position.num} is below block ${this.#floor}, which was irreversible`,
      )
    this.#floor = Math.max(this.#floor, position.floor)
    return position
  }

  #note(line: string): void {
    this.#log.push(line)
    if (this.#log.length > LINES_KEPT) this.#log.shift()
  }
}
