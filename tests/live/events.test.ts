import { afterEach, expect, it } from 'vitest'
import { eventCatalogue } from '../../services/core/live/index.ts'
import type { EventEntity } from '../../services/core/live/index.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { StreamClient, WebsocketClient } from './clients.ts'
import type { LiveMessage } from './clients.ts'
import { LiveChain } from './live-chain.ts'
import { problemsOf } from './message-schemas.ts'
import { generations, SocketClient } from './socket-io-clients.ts'
import { survivingBlocks } from './published.ts'

const families = ['assets', 'market', 'tools'] as const
type Family = (typeof families)[number]

let chain: LiveChain | undefined
let redis: TestRedis | undefined
const opened: { close(): void }[] = []

afterEach(async () => {
  for (const client of opened.splice(0)) client.close()
  await chain?.close()
  await redis?.stop()
  chain = redis = undefined
})

/** REST path of an entity's record. */
const restPaths: Readonly<Record<EventEntity, (id: string) => string>> = {
  asset: (id) => `/assets/v1/assets/${id}`,
  transfer: (id) => `/assets/v1/transfers?ids=${id}`,
  offer: (id) => `/assets/v1/offers/${id}`,
  collection: (id) => `/assets/v1/collections/${id}`,
  schema: (id) => `/assets/v1/schemas/${id}`,
  template: (id) => `/assets/v1/templates/${id}`,
  sale: (id) => `/market/v1/sales/${id}`,
  auction: (id) => `/market/v1/auctions/${id}`,
  buyoffer: (id) => `/market/v1/buyoffers/${id}`,
  template_buyoffer: (id) => `/market/v1/template_buyoffers/${id}`,
  link: (id) => `/tools/v1/links/${id}`,
}

async function restRecord(live: LiveChain, entity: EventEntity, id: string): Promise<unknown> {
  const data = await live.data(restPaths[entity](id))
  return entity === 'transfer' ? (data as unknown[])[0] : data
}

/** Socket namespaces and their rooms. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  '/assets/v1/assets': [],
  '/assets/v1/offers': [],
  '/assets/v1/transfers': [],
  '/market/v1/sales': ['new_sales', 'purchased_sales'],
  '/market/v1/auctions': ['new_auctions', 'new_bids'],
  '/market/v1/buyoffers': ['new_buyoffers'],
  '/market/v1/template_buyoffers': ['new_template_buyoffers'],
}

interface Clients {
  readonly websockets: Readonly<Record<Family, WebsocketClient>>
  readonly streams: Readonly<Record<Family, StreamClient>>
  readonly sockets: Readonly<Record<string, readonly SocketClient[]>>
}

async function connectAll(url: string): Promise<Clients> {
  const websockets = {} as Record<Family, WebsocketClient>
  const streams = {} as Record<Family, StreamClient>
  const sockets: Record<string, SocketClient[]> = {}
  for (const family of families) {
    websockets[family] = await WebsocketClient.open(`${url}/${family}/v1/live`)
    await websockets[family].subscribe()
    streams[family] = new StreamClient(`${url}/${family}/v1/events`)
    await streams[family].received('subscribed', 1)
    opened.push(websockets[family], streams[family])
  }
  for (const [name, wanted] of Object.entries(rooms)) {
    sockets[name] = generations.map(
      (generation) => new SocketClient(url + name, { generation, transports: ['websocket'] }),
    )
    opened.push(...sockets[name])
    for (const client of sockets[name]) {
      await client.untilConnected()
      client.subscribe(Object.fromEntries(wanted.map((room) => [room, true])))
    }
  }
  // A subscription has no response; a later request shows that the server has processed it.
  for (const client of Object.values(sockets).flat()) await client.roundTrip()
  return { websockets, streams, sockets }
}

async function show(live: LiveChain, blocks: number): Promise<Set<string>> {
  const { websockets, streams, sockets } = await connectAll(live.api.url)
  const received = await live.entries()
  const seen = new Set<string>()
  const counts = new Map<Family, number>()
  for (let block = 0; block < blocks; block++) {
    await live.produce()
    const entries = (await live.entries()).slice(received.length)
    received.push(...entries)
    const events = survivingBlocks(entries).flatMap((each) => each.events)
    for (const family of families) {
      const before = counts.get(family) ?? 0
      const count = before + events.filter((event) => event.family === family).length
      counts.set(family, count)
      const received = await websockets[family].received('event', count)
      expect(received.length).toBe(count)
      for (const message of received.slice(before)) await expectAsRest(live, message, seen)
    }
  }
  for (const family of families) {
    const messages = await websockets[family].received('event', 0)
    expect(await streams[family].received('event', messages.length)).toEqual(messages)
    await expectSockets(family, messages, sockets)
    for (const message of websockets[family].messages) expect(problemsOf(message)).toBe('')
  }
  return seen
}

/** Compares an event with REST. The chain is paused meanwhile, so that REST answers as of the event's block. */
async function expectAsRest(live: LiveChain, message: LiveMessage, seen: Set<string>): Promise<void> {
  const { entity, id } = message as unknown as { entity: EventEntity; id: string }
  seen.add((message as unknown as { action: { name: string } }).action.name)
  const record = await restRecord(live, entity, id)
  if (message.record === null) expect(record).toBeUndefined()
  else expect(message.record, `${message.event!} ${id}`).toEqual(record)
}

async function expectSockets(
  family: Family,
  messages: readonly LiveMessage[],
  sockets: Clients['sockets'],
): Promise<void> {
  const actions = messages as unknown as readonly ActionMessage[]
  for (const [name, clients] of Object.entries(sockets)) {
    if (!name.startsWith(`/${family}/`)) continue
    const suffix = name.slice(family.length + 1)
    const wanted = actions.flatMap((message) => {
      const entry = eventCatalogue.find(
        (each) => each.family === family && each.action === message.action.name,
      )
      return entry?.socket?.namespaces.includes(suffix) ? [{ message, event: entry.socket.event }] : []
    })
    for (const client of clients) {
      const events = await client.received(wanted.length)
      expect(events.map((each) => each.name)).toEqual(wanted.map((each) => each.event))
      events.forEach(({ payload }, at) => expectPayload(payload, wanted[at]!.message))
    }
    expect(clients[1]!.events).toEqual(clients[0]!.events)
    expect(clients[2]!.events).toEqual(clients[0]!.events)
  }
}

interface ActionMessage {
  readonly action: {
    readonly account: string
    readonly name: string
    readonly data: unknown
    readonly authorization: unknown
  }
  readonly entity: EventEntity
  readonly id: string
  readonly record: {
    readonly bids?: readonly { account: string; amount: string; number: number; txid: string }[]
  } | null
  readonly transaction: string
  readonly global_sequence: string
  readonly block: { readonly num: number; readonly id: string; readonly time: number }
}

function expectPayload(payload: SocketClient['events'][number]['payload'], message: ActionMessage): void {
  const { block, action, entity } = message
  const name = entity === 'template_buyoffer' ? 'buyoffer' : entity
  expect(payload[`${name}_id`]).toBe(message.id)
  expect(payload[name]).toEqual(message.record ?? undefined)
  expect(payload.block).toEqual({
    block_id: block.id.toUpperCase(),
    block_num: block.num,
    timestamp: new Date(block.time).toISOString().replace('Z', ''),
    producer: expect.any(String) as string,
  })
  expect(payload.transaction!.id).toBe(message.transaction.toUpperCase())
  expect(payload.transaction!.traces).toContainEqual(payload.trace)
  expect(payload.trace).toMatchObject({
    global_sequence: message.global_sequence,
    account_ram_deltas: [],
    act: {
      account: action.account,
      name: action.name,
      authorization: action.authorization,
      data: action.data,
    },
  })
  if (action.name === 'auctionbid') {
    const { bidder, bid } = action.data as { bidder: string; bid: string }
    const amount = String(BigInt(bid.split(' ')[0]!.replace('.', '')))
    expect(payload.bid).toEqual({
      number: message.record!.bids!.find((each) => each.account === bidder && each.amount === amount)!.number,
      ...{ account: bidder, amount, created_at_block: block.num, created_at_time: block.time },
      txid: message.transaction.toUpperCase(),
    })
  }
}

/** The generated chain backs no assets with tokens; recorded.test.ts covers `logbackasset`. */
const socketActions = eventCatalogue.flatMap(({ socket, action }) =>
  socket && action !== 'logbackasset' ? [action] : [],
)

it('every client receives every event, with the record that REST returns at that block', async () => {
  chain = await LiveChain.start({ seed: 7 })
  const seen = await show(chain, 45)
  for (const action of socketActions) expect([...seen]).toContain(action)
})

describeWithRedis('events published over Redis', () => {
  it('every client receives the same events over Redis', async () => {
    redis = await startTestRedis()
    chain = await LiveChain.start({ seed: 8, redisPort: redis.port })
    expect((await show(chain, 8)).size).toBeGreaterThan(5)
  })
})
