import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../integration/seeded-random.ts'
import { until, WebsocketClient } from './clients.ts'
import type { LiveMessage } from './clients.ts'
import { assetId, startLiveServer } from './live-server.ts'
import type { LiveServer } from './live-server.ts'
import { problemsOf } from './message-schemas.ts'

/** Each subscription of the tests filters by the ids of some assets. */
const ASSETS = 12

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

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  async connect(url: string): Promise<void> {
    this.#connection = await WebsocketClient.open(url)
    this.#read = 0
  }

  subscribe(follower: Follower): void {
    const { id, assets, cursor } = follower
    follower.isBegun = false
    this.followers.set(id, follower)
    this.#connection!.send({ type: 'subscribe', id, assets, ...(cursor === undefined ? {} : { cursor }) })
  }

  /** Takes what has arrived. */
  read(): void {
    const { messages } = this.#connection!
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
    }
  }

  cut(): void {
    this.read()
    this.#connection!.close()
    this.#connection = undefined
  }
}

describe('cursors of subscriptions', () => {
  let server: LiveServer
  let url: string
  let nextBlock = 100
  const opened: { close(): void }[] = []

  beforeAll(async () => {
    server = await startLiveServer({ live: { connections_per_address: 1_000, messages_per_second: 1_000 } })
    url = `${server.api.url}/assets/v1/live`
  })
  afterEach(() => {
    for (const client of opened.splice(0)) client.close()
  })
  afterAll(() => server.close())

  async function connect(): Promise<WebsocketClient> {
    const client = await WebsocketClient.open(url)
    opened.push(client)
    return client
  }

  const update = async (...numbers: number[]): Promise<number> => {
    await server.feed.block(
      nextBlock,
      numbers.map((number) => ({ action: 'logsetdata', id: assetId(number) })),
    )
    return nextBlock++
  }

  /** Events of a client's messages. */
  const eventsOf = (client: WebsocketClient): unknown[] =>
    client.messages.flatMap(({ type, id, block }) => (type === 'event' ? [[block!.num, id]] : []))

  it.each(['at once', 'after subscribed', 'later'])(
    'a second subscription after a resume gets all that was missed: without a cursor, %s',
    async (when) => {
      const first = await connect()
      await first.subscribe()
      await update(1)
      const [seen] = await first.received('event', 1)
      first.close()
      const blocks = [await update(1), await update(2), await update(1, 2)]
      const back = await connect()
      back.send({ type: 'subscribe', id: 'one', assets: [assetId(1)], cursor: seen!.cursor })
      if (when === 'after subscribed') await back.received('subscribed', 1)
      if (when === 'later') await back.received('position', 1)
      back.send({ type: 'subscribe', id: 'two', assets: [assetId(2)] })
      await back.received('event', 4)
      blocks.push(await update(1, 2))
      await back.received('event', 6)
      expect(eventsOf(back).sort()).toEqual(
        [
          ...[1, 2].map((number) => [blocks[number === 1 ? 0 : 1], assetId(number)]),
          ...blocks.slice(2).flatMap((block) => [1, 2].map((number) => [block, assetId(number)])),
        ].sort(),
      )
    },
  )

  it('a subscription that is added with a cursor gets what came after it, and others are not sent it again', async () => {
    const client = await connect()
    await client.subscribe({ id: 'all' })
    const blocks = [await update(1, 2), await update(2), await update(1)]
    const seen = await client.received('event', 4)
    client.send({ type: 'subscribe', id: 'old', assets: [assetId(2)], cursor: seen[0]!.cursor })
    await client.received('event', 6)
    const replayed = client.messages.filter(({ type }) => type === 'event').slice(4)
    expect(replayed.map(({ block, id, subscriptions }) => [block!.num, id, subscriptions])).toEqual([
      [blocks[0], assetId(2), ['old']],
      [blocks[1], assetId(2), ['old']],
    ])
    await update(2)
    const [last] = (await client.received('event', 7)).slice(6)
    expect(last).not.toHaveProperty('subscriptions')
    for (const message of client.messages) expect(problemsOf(message)).toBe('')
  })

  it('a client whose subscriptions match nothing gets newer cursors', async () => {
    const client = await connect()
    const begun = await client.subscribe({ assets: [assetId(150)] })
    await update(1)
    const again = await connect()
    await again.subscribe({ assets: [assetId(150)], cursor: begun.cursor })
    const [position] = await again.received('position', 1)
    expect(position!.cursor).not.toBe(begun.cursor)
  })

  it.each([1, 2, 3])(
    'clients with two to ten subscriptions lose nothing and get nothing twice: cuts, forks, cursors of different ages (%i)',
    async (seed) => {
      const random = createRandom(seed)
      const start = nextBlock
      /** Events of the chain as it is: by block. */
      const chain = new Map<number, string[]>()
      /** Cursors after blocks, from a witness. */
      const witness = await connect()
      await witness.subscribe()
      const clients = Array.from({ length: 6 }, () => new Client())
      for (const client of clients) await client.connect(url)

      const produce = async (): Promise<void> => {
        const numbers = Array.from({ length: ASSETS }, (_, at) => at).filter(() => random.fraction() < 0.4)
        if (numbers.length === 0) numbers.push(0)
        chain.set(await update(...numbers), numbers.map(assetId))
      }
      const fork = async (): Promise<void> => {
        const from = Math.max(start + 1, nextBlock - random.between(1, 4))
        if (from >= nextBlock) return
        await server.feed.fork(from)
        for (let num = from; num < nextBlock; num++) chain.delete(num)
        nextBlock = from
      }
      const follow = (client: Client): void => {
        if (client.followers.size === 10) return
        const assets = Array.from({ length: ASSETS }, (_, at) => assetId(at)).filter(
          () => random.fraction() < 0.4,
        )
        const seen = witness.messages.filter(({ type }) => type === 'event')
        const given = random.fraction() < 0.7 ? seen[random.between(0, seen.length - 1)] : undefined
        const follower = new Follower(
          `s${client.followers.size}`,
          assets,
          given?.block?.num ?? Infinity,
          given?.cursor,
        )
        client.subscribe(follower)
      }
      await produce()
      await witness.received('event', 1)
      for (const client of clients) for (let at = 0; at < 2; at++) follow(client)
      for (let step = 0; step < 60; step++) {
        const chance = random.fraction()
        if (chance < 0.1) await fork()
        else await produce()
        for (const client of clients) {
          if (!client.isConnected) {
            if (random.fraction() < 0.5) continue
            await client.connect(url)
            for (const follower of client.followers.values()) client.subscribe(follower)
          } else if (random.fraction() < 0.1) client.cut()
          else if (random.fraction() < 0.2) follow(client)
        }
        await sleep(random.between(0, 60))
      }
      for (const client of clients) {
        if (client.isConnected) continue
        await client.connect(url)
        for (const follower of client.followers.values()) client.subscribe(follower)
      }
      const last = await update(...Array.from({ length: ASSETS }, (_, at) => at))
      chain.set(
        last,
        Array.from({ length: ASSETS }, (_, at) => assetId(at)),
      )
      for (const client of clients) {
        const isDone = (): boolean => {
          client.read()
          return [...client.followers.values()].every(({ events, assets }) =>
            assets.every((id) => events.includes(`${last} ${id}`)),
          )
        }
        await until(isDone, () => `a client has not got block ${last}`)
        expect(client.problems).toEqual([])
        for (const { events, assets, from } of client.followers.values()) {
          expect(new Set(events).size).toBe(events.length)
          // The block of the cursor itself may have been seen in part, or be undone since.
          const wanted = [...chain].flatMap(([num, ids]) =>
            num > from ? ids.filter((id) => assets.includes(id)).map((id) => `${num} ${id}`) : [],
          )
          const missing = wanted.filter((each) => !events.includes(each))
          expect(missing).toEqual([])
          // Everything that is there is on the chain.
          const known = new Set([...chain].flatMap(([num, ids]) => ids.map((id) => `${num} ${id}`)))
          expect(events.filter((each) => !known.has(each) && Number(each.split(' ')[0]) >= start)).toEqual([])
        }
      }
    },
  )
})
