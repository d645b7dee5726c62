import { expect, it } from 'vitest'
import { Channel } from './channel.ts'
import type { ChannelMount } from './channel.ts'
import type { Connection } from './client.ts'
import { LiveClient } from './client.ts'
import type { LiveEvent } from './live-event.ts'
import type { LiveObserver } from './observer.ts'
import { Outgoing } from './outgoing.ts'

const observer: LiveObserver = {
  connected: () => undefined,
  disconnected: () => undefined,
  refused: () => undefined,
  sent: () => undefined,
  cut: () => undefined,
  published: () => undefined,
}

/** A channel, and clients of it that are subscribed to everything. */
function openChannel(count: number) {
  const channel = new Channel({ mount: {} as ChannelMount, maxQueueBytes: Infinity, observer })
  const clients = Array.from({ length: count }, () => {
    const received: string[] = []
    const connection: Connection = {
      ...{ transport: 'event-stream', format: 'event-stream', isOpen: true, waitingBytes: 0 },
      write: (bytes) => void received.push(...bytes.toString().match(/(?<=data: ).*/g)!),
      drained: () => Promise.resolve(),
      end: () => undefined,
    }
    const client = new LiveClient(connection, '10.0.0.1')
    client.subscribe('default', {})
    client.state = 'live'
    channel.add(client)
    return { client, received }
  })
  return { channel, clients }
}

/** @param encode called when the event is first needed. */
const eventOf = (encode: () => string): LiveEvent =>
  ({ name: 'asset_updated', message: new Outgoing('event', 'cursor', encode) }) as LiveEvent

it('a client that changes its subscriptions while a block is encoded changes nothing for others', async () => {
  const { channel, clients } = openChannel(3)
  const events = [
    () => 'a',
    () => {
      clients[0]!.client.unsubscribe('default')
      clients[1]!.client.subscribe('default', { events: new Set(['asset_minted']) })
      return 'b'
    },
    () => 'c',
  ]
  await channel.publish(1n, events.map(eventOf))
  expect(clients[2]!.received).toEqual(['a', 'b', 'c'])
  await channel.publish(2n, [eventOf(() => 'd')])
  // From the next block on it is given what it has asked for.
  expect(clients.map(({ received }) => received.slice(3))).toEqual([[], [], ['d']])
})
