import { expect, it } from 'vitest'
import type { FeedBlock } from '../../core/feed/index.ts'
import { BlockEvents } from './block-events.ts'
import { Channel } from './channel.ts'
import type { ChannelMount } from './channel.ts'
import type { Connection } from './client.ts'
import { LiveClient } from './client.ts'
import type { LiveObserver } from './observer.ts'
import type { EventRecords } from './records.ts'
import type { Resumer } from './resuming.ts'
import { SubscriptionBudget } from './subscription-budget.ts'
import { Subscriptions } from './subscriptions.ts'

const observer: LiveObserver = {
  connected: () => undefined,
  disconnected: () => undefined,
  refused: () => undefined,
  sent: () => undefined,
  cut: () => undefined,
  published: () => undefined,
}
const mount = { family: 'assets', contract: 'atomicassets', reader: 'main-1' } as ChannelMount

/** A block with one event: an asset was updated. */
function blockOf(sequence: number): FeedBlock {
  const id = String(sequence).padStart(64, '0')
  const trace = {
    ...{ action_ordinal: 1, creator_action_ordinal: 0, global_sequence: String(sequence) },
    ...{ account: 'atomicassets', name: 'logsetdata', authorization: [], data: {} },
  }
  return {
    ...{ kind: 'block', reader: 'main-1', epoch: 1, sequence: String(sequence) },
    block: { num: sequence, id, time: 0, producer: 'eosio' },
    transactions: [{ id, cpu_usage_us: 1, net_usage_words: 1, traces: [trace] }],
    events: [
      {
        ...{ contract: 'atomicassets', family: 'assets', event: 'asset_updated', id: '1' },
        ...{ transaction: 0, trace: 0, keys: {} },
      },
    ],
  }
}

const records = {
  readKeys: (events) => {
    for (const each of events)
      each.keys = { collections: [], templates: [], accounts: [], assets: ['1'], listings: [] }
    return Promise.resolve()
  },
  read: () => Promise.resolve(new Map()),
} as Pick<EventRecords, 'read' | 'readKeys'> as EventRecords

it('if a client subscribes while the channel sends a block, resuming sends the client the rest of the block, and the channel does not; other clients get all events of the block', async () => {
  const resumed: LiveClient[] = []
  const resume = (_: unknown, client: LiveClient): void => void resumed.push(client)
  const channel = new Channel({ mount, maxQueueBytes: Infinity, observer, resume })
  const subscribing = new Subscriptions(new SubscriptionBudget(), { resume } as Partial<Resumer> as Resumer)
  const subscribe = (client: LiveClient, id: string): void => {
    subscribing.subscribe(channel, client, {
      ...{ id, filter: {}, filters: {}, bytes: 1 },
      cursor: undefined,
    })
  }
  channel.moveTo({ reader: 'main-1', epoch: 1, sequence: 1n, seen: null, block: 1 })
  const clients = [0, 1, 2].map((number) => {
    const received: string[] = []
    const connection: Connection = {
      ...{ transport: 'event-stream', format: 'event-stream', isOpen: true, waitingBytes: 10 },
      write: (bytes) => {
        received.push(...bytes.toString().match(/(?<=event: ).*/g)!)
        // While the block is written to the first client, the second client adds a subscription.
        if (number === 0 && received.at(-1) === 'event') subscribe(clients[1]!.client, 'more')
      },
      drained: () => Promise.resolve(),
      end: () => undefined,
    }
    const client = new LiveClient(connection, '10.0.0.1')
    channel.add(client)
    return { client, received }
  })
  for (const { client } of clients) subscribe(client, 'default')
  const events = new BlockEvents(blockOf(2), mount, records, () => undefined)
  await events.load(events.placed)
  channel.moveTo({ reader: 'main-1', epoch: 1, sequence: 2n, seen: null, block: 2 })
  await channel.publish(events)
  expect(clients.map(({ received }) => received)).toEqual([
    ['subscribed', 'event'],
    ['subscribed', 'subscribed'],
    ['subscribed', 'event'],
  ])
  expect(resumed).toEqual([clients[1]!.client])
  const places = [...clients[1]!.client.subscriptions.values()].map(({ place }) => place?.sequence)
  expect(places).toEqual([1n, 1n])
  expect(channel.waitingBytes).toBe(30)
  channel.remove(clients[0]!.client)
  expect(channel.waitingBytes).toBe(20)
})
