import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { createRandom } from '../integration/seeded-random.ts'
import type { SeededRandom } from '../integration/seeded-random.ts'
import { until, WebsocketClient } from './clients.ts'
import type { LiveMessage } from './clients.ts'
import { assetId } from './live-server.ts'
import { problemsOf } from './message-schemas.ts'
import type { WrittenFeed } from './written-feed.ts'

/** Each subscription of the tests filters by the ids of some assets. */
const ASSETS = 12
const everyAsset = Array.from({ length: ASSETS }, (_, at) => at)

/** What one subscription of a client has been given, over all connections. */
class Follower {
  readonly id: string
  readonly assets: readonly string[]
  /** Events that count: `block asset`. */
  readonly events: string[] = []
  /** Position by the messages that have moved it. */
  cursor: string | undefined
  /** Events from this one on have to be there. */
  readonly from: number
  /** Whether it has begun on the present connection. */
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

/** A client that keeps a cursor for each of its subscriptions, and comes back with them when its connection is lost. */
class Client {
  readonly followers = new Map<string, Follower>()
  readonly problems: string[] = []
  #connection: WebsocketClient | undefined
  #read = 0

  /** Whether the connection is open; one that the server has closed is read to its end. */
  hasConnection(): boolean {
    if (this.#connection?.closed !== undefined) this.cut()
    return this.#connection !== undefined
  }

  /** Connects, and continues the subscriptions. */
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

  /** Takes what has arrived, and returns the cursors of its events. */
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

/** What a scenario follows. */
export interface FollowedServer {
  readonly feed: WrittenFeed
  /** Address of the websocket. */
  readonly url: string
  /** Number of the next block of the feed. */
  readonly nextBlock: number
  readonly seed: number
  /** Stops the server and starts it again, a few times; without it the server lives on. */
  readonly restart?: (random: SeededRandom) => Promise<void>
}

const CLIENTS = 6
const MOST_SUBSCRIPTIONS = 10
const STEPS = 60
const KILLS = 4

/** A chain whose blocks are written into a feed, and clients that follow it. */
class Scenario {
  readonly #server: FollowedServer
  readonly #random: SeededRandom
  readonly #start: number
  readonly #clients = Array.from({ length: CLIENTS }, () => new Client())
  /** Events of the chain as it is: by block. */
  readonly #chain = new Map<number, string[]>()
  /** Cursors of messages of any age, each with the block of its event. */
  readonly #cursors: { readonly num: number; readonly cursor: string }[] = []
  #nextBlock: number

  constructor(server: FollowedServer) {
    this.#server = server
    this.#random = createRandom(server.seed)
    this.#nextBlock = this.#start = server.nextBlock
  }

  /** Returns the number of the next block. */
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

  /** Adds a subscription, mostly with a cursor that some client was given at some time. */
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
      // The block of the cursor itself may have been seen in part, or be undone since.
      const wanted = known.filter(({ num, id }) => num > from && assets.includes(id))
      expect(wanted.map(({ num, id }) => `${num} ${id}`).filter((each) => !events.includes(each))).toEqual([])
      expect(
        events.filter((each) => !onChain.has(each) && Number(each.split(' ')[0]) >= this.#start),
      ).toEqual([])
    }
  }
}

/**
 * Clients with two to ten subscriptions each follow a chain that forks, while their connections are cut and the server
 * ends: every subscription, begun at any time with a cursor of any age, has every event once. Returns the number of the
 * next block.
 */
export function followRandomly(server: FollowedServer): Promise<number> {
  return new Scenario(server).run()
}
