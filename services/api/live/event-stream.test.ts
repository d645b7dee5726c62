import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import type { Channel } from './channel.ts'
import { EventStreams } from './event-stream.ts'
import type { EventStreamOptions } from './event-stream.ts'

it('an ended event stream that waits behind an unanswered request of its connection is closed with the connection', async () => {
  const subscribing = { reserve: () => undefined, leave: () => undefined, subscribe: () => undefined }
  const observer = { connected: () => undefined, disconnected: () => undefined }
  const streams = new EventStreams({
    ...{ limits: { values_per_subscription: 10 }, heartbeatMs: 60_000, subscribing, observer },
  } as unknown as EventStreamOptions)
  let closed = 0
  let accepted: (() => void) | undefined
  const isAccepted = new Promise<void>((resolve) => (accepted = resolve))
  const server = createServer((request, response) => {
    if (request.url === '/unanswered') return
    streams.accept({
      ...{ request, response, query: new URLSearchParams(), headers: {}, address: '10.0.0.1' },
      channel: { mount: { family: 'assets' }, add: () => undefined } as unknown as Channel,
      onClose: () => closed++,
    })
    accepted!()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET /unanswered HTTP/1.1\r\nHost: x\r\n\r\nGET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
  await isAccepted
  streams.close('the test ends the stream')
  socket.resume()
  await once(socket, 'close')
  await expect.poll(() => closed).toBe(1)
  server.close()
})
