import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Channel } from './channel.ts'
import type { ChannelMount } from './channel.ts'
import { ClientTurns } from './client-turns.ts'
import type { LiveLimits } from './limits.ts'
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

/** Serves a websocket whose client does not read. */
function serveUnread(limits: LiveLimits): { socket: UnreadSocket; cut: string[]; close: () => void } {
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
  const turns = new ClientTurns()
  const server = new PlainWebsockets({ limits, observer, subscribing, turns, pingMs: 1_000_000 })
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
  const close = (): void => {
    server.close('')
    socket.destroy()
  }
  return { socket, cut, close }
}

it('a client that does not read the answers to its messages is disconnected', async () => {
  const { socket, cut, close } = serveUnread(limits)
  const text = '{"type":"subscribe","assets":["1"]}'
  for (let sent = 0; sent < 1_000; sent++) socket.send(text)
  socket.push(null)
  await expect.poll(() => socket.readableLength).toBe(0)
  expect(socket.writableLength).toBeLessThan(2 * limits.max_queue_bytes)
  expect(cut).toEqual(['slow'])
  close()
})

it('further messages of a client wait until the client has read the answers', async () => {
  const { socket, cut, close } = serveUnread({ ...limits, max_queue_bytes: 2 ** 30 })
  // The answer is longer, because it names all events.
  for (let sent = 0; sent < 5_000; sent++) socket.send('{"type":"subscribe","events":["x"]}')
  await expect.poll(() => socket.writableLength).toBeGreaterThan(256 * 1024)
  await sleep(500)
  expect(socket.writableLength).toBeLessThan(512 * 1024)
  expect(cut).toEqual([])
  close()
})
