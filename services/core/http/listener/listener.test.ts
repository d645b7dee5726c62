import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { listen } from './listener.ts'
import type { Listener } from './listener.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

function listenWith(handler: RequestListener): Promise<Listener> {
  return listen({ address: '127.0.0.1', port: 0, handler, failureBody: (_, message) => message })
}

it('bytes that are not HTTP close a connection without damaging an answer in progress', async () => {
  const listener = await listenWith((_, response) => void response.write('event'))
  const socket = connect(listener.port, '127.0.0.1')
  let received = ''
  socket.on('data', (bytes: Buffer) => (received += bytes.toString()))
  socket.on('error', () => undefined)
  socket.write(REQUEST)
  await expect.poll(() => received).toContain('event')
  const ended = once(socket, 'close')
  socket.write('NONSENSE\r\n\r\n')
  await ended
  expect(received).not.toContain('Malformed')
  await listener.close()
})

it('a closing server answers the request on a busy connection, and closes the connection with the answer', async () => {
  const responses: ServerResponse[] = []
  const listener = await listenWith((_, response) => void responses.push(response))
  const socket = connect(listener.port, '127.0.0.1')
  let received = ''
  socket.on('data', (bytes: Buffer) => (received += bytes.toString()))
  socket.write(REQUEST)
  await expect.poll(() => responses.length).toBe(1)
  const closed = listener.close()
  socket.write(REQUEST)
  responses[0]!.end('first')
  await expect.poll(() => responses.length).toBe(2)
  const ended = once(socket, 'close')
  responses[1]!.end('second')
  await expect.poll(() => received).toMatch(/first[^]*Connection: close[^]*second$/)
  await Promise.all([ended, closed])
})

/** Opens a connection, sends bytes, and returns what the client has received when the connection closes. */
async function receiveAll(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (part: Buffer) => (received += part.toString()))
  socket.on('error', () => undefined)
  socket.write(bytes)
  await once(socket, 'close')
  return received
}

it('a CONNECT request closes the connection; requests that follow in the same packet are ignored', async () => {
  let requests = 0
  const listener = await listenWith((_, response) => {
    requests++
    response.end('answer')
  })
  const opening = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'
  expect(await receiveAll(listener.port, opening + REQUEST.repeat(3))).toBe('')
  expect(requests).toBe(0)
  await listener.close()
})

it('requests that follow a CONNECT request in later packets are ignored', async () => {
  const responses: ServerResponse[] = []
  const listener = await listenWith((_, response) => void responses.push(response))
  const errors: unknown[] = []
  const note = (error: unknown): void => void errors.push(error)
  process.prependListener('uncaughtException', note)
  const socket = connect({ port: listener.port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => undefined).resume()
  // While eight requests are in progress, the server does not parse the packets that follow.
  for (const packet of [REQUEST.repeat(9), 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', REQUEST]) {
    socket.write(packet)
    await sleep(50)
  }
  const closed = once(socket, 'close')
  expect(responses).toHaveLength(8)
  for (const response of responses) response.end('answer')
  await closed
  process.off('uncaughtException', note)
  expect(errors).toEqual([])
  expect(responses).toHaveLength(9)
  await listener.close()
})

it.each([
  ['an unanswered request', REQUEST, ''],
  ['a request without Host', 'GET / HTTP/1.1\r\n\r\n', '400'],
  ['a request with an unknown expectation', REQUEST.replace('\r\n\r\n', '\r\nExpect: x\r\n\r\n'), '417'],
])('an upgrade request in the same packet as %s closes the connection', async (_, request, status) => {
  let upgrades = 0
  const listener = await listen({
    address: '127.0.0.1',
    port: 0,
    handler: () => undefined,
    upgrade: (_, socket) => {
      upgrades++
      socket.destroy()
    },
    failureBody: (_, message) => message,
  })
  const upgrade = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'
  const received = await receiveAll(listener.port, request + upgrade + REQUEST)
  expect(received.slice('HTTP/1.1 '.length, 'HTTP/1.1 400'.length)).toBe(status)
  expect(upgrades).toBe(0)
  await listener.close()
})

it('bytes that are not HTTP after several requests close the connection without an answer', async () => {
  const listener = await listen({
    address: '127.0.0.1',
    port: 0,
    handler: (request, response) => {
      if (request.url === '/') response.write('event')
    },
    failureBody: (_, message) => message,
  })
  const received = await receiveAll(
    listener.port,
    `${REQUEST}${REQUEST.replace('/', '/later')}NONSENSE\r\n\r\n`,
  )
  expect(received).not.toContain('Malformed')
  await listener.close()
})
