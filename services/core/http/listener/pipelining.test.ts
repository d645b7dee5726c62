import { once } from 'node:events'
import { request as send } from 'node:http'
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../tests/setup/patience.ts'
import { createPeers } from '../limits/index.ts'
import { listen } from './listener.ts'
import type { Listener, ListenerOptions } from './listener.ts'
import { MAX_IN_PROGRESS } from './pipelining.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(handler: RequestListener, more: Partial<ListenerOptions> = {}): Promise<Listener> {
  const listener = await listen({
    ...{ address: '127.0.0.1', port: 0, handler, timing: { drainMs: 100 } },
    failureBody: (_, message) => message,
    ...more,
  })
  closing.push(() => listener.close())
  return listener
}

async function open(listener: Listener): Promise<Socket> {
  const socket = connect(listener.port, '127.0.0.1')
  socket.on('error', () => undefined)
  closing.push(() => Promise.resolve(socket.destroy()))
  await once(socket, 'connect')
  return socket
}

/** Processor time of this process, ms. On a busy machine it grows more slowly than the elapsed time. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Longest processor time before another connection is served, ms. */
const MOST_MS = patient(200)

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`

describe('pipelined requests', () => {
  it('pipelined requests are answered in order, however the bytes are split', async () => {
    const listener = await start((request, response) => {
      let body = ''
      request.on('data', (bytes: Buffer) => (body += bytes.toString()))
      request.on('end', () =>
        setTimeout(() => response.end(`[${request.url ?? ''} ${body}]`), Math.random() * 3),
      )
    })
    const requests = Array.from({ length: 60 }, (_, at) =>
      at % 3 === 0
        ? `POST /${at} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1\r\n\r\n1234`
        : get(`/${at}`),
    )
    const bytes = Buffer.from(requests.join(''))
    for (const size of [1, 2, 3, 5, 37, 1_000, bytes.length]) {
      const socket = await open(listener)
      let received = ''
      socket.on('data', (part: Buffer) => (received += part.toString()))
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.subarray(at, at + size))
        if (size < 37) await new Promise(setImmediate)
      }
      await expect.poll(() => received.match(/\[/g)?.length, { timeout: patient(5_000) }).toBe(60)
      const answered = [...received.matchAll(/\[\/(\d+)/g)].map(([, at]) => Number(at))
      expect(answered).toEqual(requests.map((_, at) => at))
    }
  })

  it('pipelined requests stay unread in the socket while MAX_IN_PROGRESS earlier requests are being answered', async () => {
    let most = 0
    let inProgress = 0
    const listener = await start((_, response) => {
      most = Math.max(most, ++inProgress)
      setTimeout(() => {
        inProgress--
        response.end('x')
      }, 1)
    })
    const socket = await open(listener)
    let received = 0
    socket.on('data', (part: Buffer) => (received += part.toString().match(/\r\n\r\nx/g)?.length ?? 0))
    socket.write(get('/').repeat(1_000))
    await expect.poll(() => received, { timeout: patient(10_000) }).toBeGreaterThan(990)
    expect(most).toBe(MAX_IN_PROGRESS)
  })

  it.each([
    ['one part', get('/').repeat(5).length],
    ['a part for each request', get('/').length],
  ])(
    'pipelined requests are answered if the client reads large answers slowly and sends the requests in %s',
    async (_, size) => {
      const body = 'x'.repeat(4_000_000)
      const listener = await start((_request, response) => void response.end(body))
      const socket = await open(listener)
      const bytes = get('/').repeat(5)
      socket.pause()
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.slice(at, at + size))
        await sleep(20)
      }
      let received = 0
      socket.on('data', (part: Buffer) => (received += part.length))
      socket.resume()
      await expect.poll(() => received, { timeout: patient(10_000) }).toBeGreaterThan(5 * body.length)
      // The connection still serves requests.
      socket.write(get('/'))
      await expect.poll(() => received, { timeout: patient(10_000) }).toBeGreaterThan(6 * body.length)
    },
  )

  it('pipelined requests of a trusted proxy are answered with at most MAX_IN_PROGRESS requests in progress', async () => {
    let most = 0
    let inProgress = 0
    const listener = await start(
      (_, response) => {
        most = Math.max(most, ++inProgress)
        setTimeout(() => {
          inProgress--
          response.end('x')
        }, 1)
      },
      { peerOf: createPeers({ trust_proxy: true, ip_whitelist: [], peer_whitelist: [] }) },
    )
    const socket = await open(listener)
    let received = ''
    socket.on('data', (part: Buffer) => (received += part.toString()))
    const answered = (count: number): Promise<unknown> =>
      expect.poll(() => received.match(/\r\n\r\nx/g)?.length, { timeout: patient(10_000) }).toBe(count)
    socket.write(get('/').repeat(2))
    await answered(2)
    socket.write(get('/').repeat(300))
    await answered(302)
    expect(most).toBe(MAX_IN_PROGRESS)
  })

  it('pipelined requests do not starve other connections: 220,000 requests on five connections', async () => {
    const listener = await start((request, response) => {
      if (request.url === '/alive') response.end('alive')
      else setImmediate(() => void response.end('x'))
    })
    const ask = async (): Promise<number> => {
      const startedMs = processorMs()
      const sent = send({ port: listener.port, path: '/alive', agent: false }).end()
      const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream]
      response.resume()
      await once(response, 'end')
      return processorMs() - startedMs
    }
    await ask()
    for (let at = 0; at < 5; at++) {
      const socket = await open(listener)
      socket.resume()
      socket.write(get('/').repeat(44_000))
    }
    let longest = 0
    const untilMs = performance.now() + 1_500
    while (performance.now() < untilMs) {
      await sleep(20)
      longest = Math.max(longest, await ask())
    }
    expect(longest).toBeLessThan(MOST_MS)
  })

  it('empty lines do not starve other connections: 64 KB of line ends on each of 40 connections', async () => {
    const listener = await start((_, response) => response.end('x'))
    const sockets = await Promise.all(Array.from({ length: 40 }, () => open(listener)))
    let longest = 0
    const untilMs = performance.now() + 1_500
    const lines = '\r\n'.repeat(32_000)
    const flood = (socket: Socket): void => {
      if (performance.now() < untilMs) socket.write(lines, () => setImmediate(flood, socket))
    }
    sockets.forEach(flood)
    for (let lastMs = processorMs(); performance.now() < untilMs;) {
      await new Promise(setImmediate)
      longest = Math.max(longest, processorMs() - lastMs)
      lastMs = processorMs()
    }
    expect(longest).toBeLessThan(MOST_MS)
  })
})
