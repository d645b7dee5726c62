import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SessionRelay } from './session-relay.ts'

const ports = new Map<number, number>()
const relays: SessionRelay[] = []
const front = createServer((request, response) => {
  relays[0]!.handle(request, response)
})
let url: string

beforeAll(async () => {
  for (const place of [1, 2]) {
    const relay = new SessionRelay(
      { place, portOf: (other) => ports.get(other) },
      { handle: (_, response) => response.end(`process ${place}`), upgrade: () => undefined },
    )
    relays.push(relay)
    ports.set(place, await relay.listen())
  }
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
})
afterAll(() => {
  for (const relay of relays) relay.close()
  front.close()
})

it.each([
  ['?EIO=4&transport=polling', 1],
  ['?EIO=4&sid=1-abc', 1],
  ['?EIO=4&sid=2-abc', 2],
  ['?EIO=4&s%69d=2-abc', 2],
  ['?sid=1-abc&sid=2-abc', 2],
  // The socket.io library reads no session id from this URL, so the process that receives the request answers it.
  ['?EIO=4&x=?sid=2-abc', 1],
  ['?sid=2-abc&sid=', 1],
])('a socket.io request goes to the process of its session: %s', async (query, place) => {
  const answer = await fetch(`${url}/socket.io/${query}`)
  expect(await answer.text()).toBe(`process ${place}`)
})

it.each(['', '?sid=1-abc', '?sid=2-abc&sid='])(
  'a process refuses a relayed request that names no session of this process: %s',
  async (query) => {
    const answer = await fetch(`http://127.0.0.1:${ports.get(2)!}/socket.io/${query}`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ code: 1, message: 'Session ID unknown' })
  },
)

it.each([
  ['a header that announces trailers', 'GET /socket.io/?sid=2-abc HTTP/1.1\r\nTrailer: x\r\n', '200'],
  [
    'Expect and trailers',
    'POST /socket.io/?sid=2-abc HTTP/1.1\r\nExpect: 100-continue\r\nTrailer: x\r\n',
    '100',
  ],
])('a relayed request with %s is answered', async (_, head, status) => {
  const socket = connect((front.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`${head}Host: x\r\n\r\n`)
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  expect(bytes.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status}`))
  socket.destroy()
})
