import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { patient } from '../../../tests/setup/patience.ts'
import { listen, onceClosed } from '../../core/http/listener/index.ts'
import type { Listener } from '../../core/http/listener/index.ts'
import { createUpgradeHandler } from './upgrades.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const UPGRADE = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'

/** Starts a server that answers upgrade requests ordinarily with `body`; `closed` counts the closed responses. */
async function start(
  body: string,
  idleMs = 10_000,
): Promise<{ listener: Listener; closed: { count: number } }> {
  const closed = { count: 0 }
  const handler = createUpgradeHandler(
    (req, res) => {
      onceClosed({ req, res }, () => closed.count++)
      res.end(body)
    },
    () => false,
  )
  const listener = await listen({
    ...{ address: '127.0.0.1', port: 0, upgrade: handler, timing: { idleMs, drainMs: 100 } },
    handler: (_, response) => response.end(),
    failureBody: (_, message) => message,
  })
  closing.push(() => listener.close())
  return { listener, closed }
}

function open({ port }: Listener): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  closing.push(() => Promise.resolve(socket.destroy()))
  return socket
}

const connections = (listener: Listener): Promise<number> =>
  new Promise((resolve) => {
    listener.server.getConnections((_error, count) => {
      resolve(count)
    })
  })

it.each(['', 'bytes that nothing reads'])(
  'an upgrade request that is answered ordinarily ends its response and its connection: %j follows',
  async (more) => {
    const { listener, closed } = await start('answer')
    const socket = open(listener)
    let received = ''
    socket.on('data', (part: Buffer) => (received += part.toString()))
    socket.write(UPGRADE + more)
    await once(socket, 'end')
    expect(received).toMatch(/^HTTP\/1.1 200[^]*answer$/)
    await expect.poll(() => closed.count).toBe(1)
    await expect.poll(() => connections(listener)).toBe(0)
  },
)

it('a client that does not read the answer to its upgrade request is disconnected after the idle timeout', async () => {
  const { listener, closed } = await start('x'.repeat(20_000_000), 1_000)
  const socket = open(listener)
  socket.pause()
  socket.write(UPGRADE)
  await expect.poll(() => closed.count, { timeout: patient(10_000) }).toBe(1)
  await expect.poll(() => connections(listener)).toBe(0)
})
