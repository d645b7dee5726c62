import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { listen } from './listener.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

it('bytes that are not HTTP close a connection without damaging an answer in progress', async () => {
  const listener = await listen({
    address: '127.0.0.1',
    port: 0,
    handler: (_, response) => void response.write('event'),
    failureBody: (_, message) => message,
  })
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
  const listener = await listen({
    address: '127.0.0.1',
    port: 0,
    handler: (_, response) => void responses.push(response),
    failureBody: (_, message) => message,
  })
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
