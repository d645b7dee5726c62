import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { expect, it } from 'vitest'
import { Channel } from './channel.ts'
import type { ChannelMount } from './channel.ts'
import type { LiveObserver } from './observer.ts'
import type { Resumer } from './resuming.ts'
import { SubscriptionBudget } from './subscription-budget.ts'
import { Subscriptions } from './subscriptions.ts'
import { PlainWebsockets } from './websocket-server.ts'

const limits = {
  ...{ max_connections: 1, connections_per_address: 1, subscriptions_per_connection: 1 },
  ...{ values_per_subscription: 10, max_message_bytes: 1_000, messages_per_second: 1_000 },
  max_queue_bytes: 10_000,
}

/** A connection whose client completes the handshake and then reads nothing. */
class UnreadSocket extends Duplex {
  override _read(): void {
    // Nothing to do: `send` pushes the frames.
  }

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    if (chunk.toString('latin1').startsWith('HTTP/1.1 101')) taken()
  }

  /** Sends a short text frame as a client does: masked, here with a mask of zeros. */
  send(text: string): void {
    this.push(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]))
  }
}

it('a client that does not read the answers to its messages is disconnected', async () => {
  const cut: string[] = []
  const observer: LiveObserver = {
    connected: () => undefined,
    disconnected: () => undefined,
    refused: () => undefined,
    sent: () => undefined,
    cut: (_, reason) => void cut.push(reason),
    published: () => undefined,
  }
  const mount = { family: 'assets' } as ChannelMount
  const channel = new Channel({
    mount,
    maxQueueBytes: limits.max_queue_bytes,
    observer,
    resume: () => undefined,
  })
  const resumer = { resume: () => undefined } as unknown as Resumer
  const subscribing = new Subscriptions(new SubscriptionBudget(), resumer)
  const server = new PlainWebsockets({ limits, observer, subscribing, pingMs: 1_000_000 })
  const request = new IncomingMessage(new Socket())
  request.method = 'GET'
  Object.assign(request.headers, {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    'sec-websocket-key': `${'a'.repeat(22)}==`,
  })
  const socket = new UnreadSocket()
  server.accept({
    ...{ request, socket, head: Buffer.alloc(0), channel, address: '10.0.0.1' },
    onClose: () => undefined,
  })
  const text = '{"type":"subscribe","assets":["1"]}'
  for (let sent = 0; sent < 1_000; sent++) socket.send(text)
  socket.push(null)
  await expect.poll(() => socket.readableLength).toBe(0)
  expect(socket.writableLength).toBeLessThan(2 * limits.max_queue_bytes)
  expect(cut).toEqual(['slow'])
  server.close('')
  socket.destroy()
})
