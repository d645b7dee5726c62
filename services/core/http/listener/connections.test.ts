import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createPeers } from '../limits/index.ts'
import type { ClientSettings } from '../limits/index.ts'
import { listen } from './listener.ts'
import type { Listener } from './listener.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(settings: Partial<ClientSettings> = {}): Promise<Listener> {
  const clients = { trust_proxy: false, ip_whitelist: [], peer_whitelist: [], ...settings }
  const listener = await listen({
    ...{ address: '127.0.0.1', port: 0, handler: (_, response) => response.end('answer') },
    ...{ maxConnectionsOfOne: 3, peerOf: createPeers(clients) },
    failureBody: (_, message) => message,
  })
  closing.push(() => listener.close())
  return listener
}

/** Opens a connection and sends a request; `got` is the response received so far. */
async function open(
  { port }: Listener,
  localAddress = '127.0.0.1',
): Promise<{ socket: Socket; got: string }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => undefined)
  closing.push(() => Promise.resolve(socket.destroy()))
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const got = await Promise.race([
    once(socket, 'data').then(([bytes]: Buffer[]) => bytes!.toString().slice(-'answer'.length)),
    once(socket, 'close').then(() => 'closed'),
  ])
  return { socket, got }
}

it('a client address has a limited number of connections, including idle connections; other client addresses are not affected', async () => {
  const listener = await start()
  const first = await open(listener)
  expect([first.got, (await open(listener)).got, (await open(listener)).got]).toEqual(Array(3).fill('answer'))
  expect((await open(listener)).got).toBe('closed')
  expect((await open(listener, '127.0.0.2')).got).toBe('answer')
  first.socket.destroy()
  await expect.poll(async () => (await open(listener)).got).toBe('answer')
  expect((await open(listener)).got).toBe('closed')
})

it.each([{ trust_proxy: 1 }, { trust_proxy: ['loopback'] }, { peer_whitelist: ['127.0.0.1'] }])(
  'connections of proxies and of exempt addresses are not counted: %j',
  async (settings) => {
    const listener = await start(settings)
    for (let at = 0; at < 8; at++) expect((await open(listener)).got).toBe('answer')
  },
)

it('connections from one IPv6 network are counted together', () => {
  const peerOf = createPeers({ trust_proxy: false, ip_whitelist: [], peer_whitelist: [] })
  const keyOf = (remoteAddress: string): string => peerOf({ remoteAddress } as unknown as Socket).key
  expect(keyOf('2001:db8:1:2ff::1')).toBe(keyOf('2001:db8:1:200:ffff::9'))
  expect(keyOf('2001:db8:1:3ff::1')).not.toBe(keyOf('2001:db8:1:2ff::1'))
  expect(keyOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
})
