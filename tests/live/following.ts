import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { createRandom } from '../integration/seeded-random.ts'
import type { SeededRandom } from '../integration/seeded-random.ts'
import { until, WebsocketClient } from './clients.ts'
import type { LiveMessage } from './clients.ts'
import { assetId } from './live-server.ts'
import { problemsOf } from './message-schemas.ts'
import type { WrittenFeed } from './written-feed.ts'

/** Number of assets; each subscription filters by some of them. */
const ASSETS = 12
const everyAsset = Array.from({ length: ASSETS }, (_, at) => at)

/** The state of one subscription over all connections of its client. */
class Follower {
  readonly id: string
  readonly assets: readonly string[]
  /** Received events that no fork has undone, as `block asset`. */
  readonly events: string[] = []
  /** Cursor of the last message that had one. */
  cursor: string | undefined
  /** The client must have received the events of all blocks above this block number. */
  readonly from: number
  /** Whether the subscription is confirmed on the current connection. */
  isBegun = false

  constructor(id: string, assets: readonly string[], from: number, cursor: string | undefined) {
    this.id = id
    this.assets = assets
    this.from = from
    this.cursor = cursor
  }

  take({ type, id, block, block_num, cursor }: LiveMessage): void {
    if (type === 'event' && this.assets.includes(id!)) this.events.push(`${block!.num} ${id!}`)
    if (type === 'fork') {
      const kept = this.events.filter((each) => Number(each.split(' ')[0]) < block_num!)
      this.events.splice(0, this.events.length, ...kept)
    }
    this.cursor = cursor ?? this.cursor
  }
}

/** A client that stores the cursor of each subscription and resumes all of them after a connection loss. */
class Client {
  readonly followers = new Map<string, Follower>()
  readonly problems: string[] = []
  #connection: WebsocketClient | undefined
  #read = 0

  /** Whether the connection is open. If the server has closed it, reads the remaining messages first. */
  hasConnection(): boolean {
    if (this.#connection?.closed !== undefined) this.cut()
    return this.#connection !== undefined
  }

  /** Connects and resumes the subscriptions. */
  async connect(url: string): Promise<void> {
    this.#connection = await WebsocketClient.open(url)
    this.#read = 0
    for (const follower of this.followers.values()) this.subscribe(follower)
  }

  subscribe(follower: Follower): void {
    const { id, assets, cursor } = follower
    follower.isBegun = false
    this.followers.set(id, follower)
    this.#connection!.send({ type: 'subscribe', id, assets, ...(cursor === undefined ? {} : { cursor }) })
  }

  /** Processes the received messages; returns the cursors of their events. */
  read(): { readonly num: number; readonly cursor: string }[] {
    const { messages } = this.#connection!
    const cursors: { readonly num: number; readonly cursor: string }[] = []
    for (; this.#read < messages.length; this.#read++) {
      const message = messages[this.#read]!
      const problem = message.type === 'error' ? JSON.stringify(message) : problemsOf(message)
      if (problem !== '') this.problems.push(problem)
      const named = message.type === 'subscribed' ? [message.id] : message.subscriptions
      for (const follower of this.followers.values()) {
        if (message.type === 'subscribed' && message.id === follower.id) follower.isBegun = true
        if (!follower.isBegun) continue
        const isFor = named === undefined || (named as string[]).includes(follower.id)
        if (isFor) follower.take(message)
      }
      if (message.type === 'event') cursors.push({ num: message.block!.num, cursor: message.cursor! })
    }
    return cursors
  }

  cut(): void {
    this.read()
    this.#connection!.close()
    this.#connection = undefined
  }
}

/** Feed, live server and seed of a scenario. */
export interface FollowedServer {
  readonly feed: WrittenFeed
  /** Websocket URL. */
  readonly url: string
  /** Number of the next block of the feed. */
  readonly nextBlock: number
  readonly seed: number
  /** Stops and starts the live server a few times; without this function the server keeps running. */
  readonly restart?: (random: SeededRandom) => Promise<void>
}

const CLIENTS = 6
const MOST_SUBSCRIPTIONS = 10
const STEPS = 60
const KILLS = 4

/** Writes the blocks of a chain with forks into a feed, and runs clients that follow it. */
class Scenario {
  readonly #server: FollowedServer
  readonly #random: SeededRandom
  readonly #start: number
  readonly #clients = Array.from({ length: CLIENTS }, () => new Client())
  /** Assets with an event on the current branch, by block. */
  readonly #chain = new Map<number, string[]>()
  /** Cursors of messages that the clients received at any time, each with the block of its event. */
  readonly #cursors: { readonly num: number; readonly cursor: string }[] = []
  #nextBlock: number

  constructor(server: FollowedServer) {
    this.#server = server
    this.#random = createRandom(server.seed)
    this.#nextBlock = this.#start = server.nextBlock
  }

  /** Runs the scenario; returns the number of the next block. */
  async run(): Promise<number> {
    await this.#produce()
    for (const client of this.#clients) {
      await client.connect(this.#server.url)
      this.#follow(client)
      this.#follow(client)
    }
    for (let step = 1; step <= STEPS; step++) {
      if (this.#random.fraction() < 0.1) await this.#fork()
      else await this.#produce()
      for (const client of this.#clients) await this.#disturb(client)
      await sleep(this.#random.between(0, 60))
      if (step % Math.ceil(STEPS / KILLS) === 0) await this.#server.restart?.(this.#random)
    }
    const last = await this.#produce(everyAsset)
    for (const client of this.#clients) await this.#expectWhole(client, last)
    return this.#nextBlock
  }

  async #produce(
    numbers = everyAsset.filter((at) => at === 0 || this.#random.fraction() < 0.4),
  ): Promise<number> {
    const num = this.#nextBlock++
    await this.#server.feed.block(
      num,
      numbers.map((number) => ({ action: 'logsetdata', id: assetId(number) })),
    )
    this.#chain.set(num, numbers.map(assetId))
    return num
  }

  async #fork(): Promise<void> {
    const from = Math.max(this.#start + 1, this.#nextBlock - this.#random.between(1, 4))
    if (from >= this.#nextBlock) return
    await this.#server.feed.fork(from)
    for (let num = from; num < this.#nextBlock; num++) this.#chain.delete(num)
    this.#nextBlock = from
  }

  /** Adds a subscription, mostly with a cursor that some client received earlier. */
  #follow(client: Client): void {
    if (client.followers.size === MOST_SUBSCRIPTIONS) return
    const assets = everyAsset.filter(() => this.#random.fraction() < 0.4).map(assetId)
    const isGiven = this.#cursors.length > 0 && this.#random.fraction() < 0.7
    const given = isGiven ? this.#cursors[this.#random.between(0, this.#cursors.length - 1)] : undefined
    const id = `s${client.followers.size}`
    client.subscribe(new Follower(id, assets, given?.num ?? Infinity, given?.cursor))
  }

  async #disturb(client: Client): Promise<void> {
    if (!client.hasConnection()) {
      if (this.#random.fraction() < 0.5) await client.connect(this.#server.url)
      return
    }
    this.#cursors.push(...client.read())
    const chance = this.#random.fraction()
    if (chance < 0.1) client.cut()
    else if (chance < 0.3) this.#follow(client)
  }

  async #expectWhole(client: Client, last: number): Promise<void> {
    if (!client.hasConnection()) await client.connect(this.#server.url)
    const isDone = (): boolean => {
      client.read()
      return [...client.followers.values()].every(({ events, assets }) =>
        assets.every((id) => events.includes(`${last} ${id}`)),
      )
    }
    await until(isDone, () => `a client has not got block ${last}`)
    expect(client.problems).toEqual([])
    const known = [...this.#chain].flatMap(([num, ids]) => ids.map((id) => ({ num, id })))
    const onChain = new Set(known.map(({ num, id }) => `${num} ${id}`))
    for (const { events, assets, from } of client.followers.values()) {
      expect(new Set(events).size).toBe(events.length)
      // Only events after the block of the first cursor must have been received. Earlier events may have been received
      // before, or a fork undid them.
      const wanted = known.filter(({ num, id }) => num > from && assets.includes(id))
      expect(wanted.map(({ num, id }) => `${num} ${id}`).filter((each) => !events.includes(each))).toEqual([])
      expect(
        events.filter((each) => !onChain.has(each) && Number(each.split(' ')[0]) >= this.#start),
      ).toEqual([])
    }
  }
}

/**
 * Runs clients with two to ten subscriptions each on a chain that forks, while connections are cut and the server
 * restarts. Checks that every subscription, started at any time with a cursor of any age, has received every event
 * exactly once. Returns the number of the next block.
 */
export function followRandomly(server: FollowedServer): Promise<number> {
  return new Scenario(server).run()
}
