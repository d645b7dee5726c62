import { request } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { bodyLimits, BodyReader } from '../../services/core/http/content/index.ts'
import { createApplication } from '../../services/core/http/index.ts'
import { listen } from '../../services/core/http/listener/index.ts'
import type { Listener } from '../../services/core/http/listener/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { readRevision } from '../../services/core/paths/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { apiConfig, quiet } from './server.ts'

let database: TestDatabase
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(() => database.drop())

async function start(settings: Record<string, unknown>, lines: string[] = []): Promise<RunningApi> {
  const logger = createLogger({
    name: 'api',
    level: 'warn',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const api = await startApi({ config: apiConfig(database.address, settings), logger })
  closing.push(() => api.close())
  return api
}

describe('origins of browser requests', () => {
  it('origins outside the setting cors get no CORS headers', async () => {
    const api = await start({ cors: ['^https://[a-z]+\\.shop\\.example$', 'localhost'] })
    const ask = async (origin: string | undefined, method = 'GET'): Promise<(string | null)[]> => {
      const headers = origin === undefined ? {} : { origin }
      const response = await fetch(`${api.url}/timestamp`, { method, headers })
      return [response.headers.get('access-control-allow-origin'), response.headers.get('vary')]
    }
    expect(await ask('https://a.shop.example')).toEqual(['https://a.shop.example', 'Origin'])
    expect(await ask('http://localhost:3000', 'OPTIONS')).toEqual(['http://localhost:3000', 'Origin'])
    for (const origin of ['https://shop.example', 'https://a.shop.example.evil.example', undefined]) {
      expect(await ask(origin)).toEqual([null, 'Origin'])
    }
    expect(await ask(`http://localhost/${'a'.repeat(400)}`)).toEqual([null, 'Origin'])
    const failure = await fetch(`${api.url}/nothing`, { headers: { origin: 'https://a.shop.example' } })
    expect([failure.status, failure.headers.get('access-control-allow-origin')]).toEqual([
      404,
      'https://a.shop.example',
    ])
  })
})

describe('the revision of the build', () => {
  it('every answer contains the revision of the build if it is known', async () => {
    const api = await start({})
    for (const path of ['/health', '/nothing', '/atomicassets/v1/assets']) {
      expect((await fetch(api.url + path)).headers.get('x-revision'), path).toBe(readRevision() ?? null)
    }
  })
})

describe('a slow query', () => {
  it('a query slower than the threshold is logged with its text and values', async () => {
    const lines: string[] = []
    const api = await start({ slow_query_threshold: 300 }, lines)
    const slow = (): string[] => lines.filter((line) => line.includes('Query took'))
    await fetch(`${api.url}/atomicassets/v1/offers?sender=alice`)
    const before = slow().length
    const locker = await connectDatabase(database.address, { applicationName: 'test' })
    await locker.query('BEGIN; LOCK TABLE assets.offers')
    const answer = fetch(`${api.url}/atomicassets/v1/offers?sender=alice`)
    await locker.query('SELECT pg_sleep(0.4)')
    await locker.end()
    expect((await answer).status).toBe(200)
    const entry = JSON.parse(slow().slice(before)[0]!) as { msg: string; query: string; values: string }
    expect(entry.msg).toMatch(/^Query took \d+ ms$/)
    expect(entry.query).toContain('assets.offers')
    expect(entry.values).toContain('alice')
  })
})

describe('slow clients', () => {
  const bodies = new BodyReader(bodyLimits(1_000, 10_000))
  const brief = { headersMs: 200, requestMs: 300, idleMs: 1_000 }
  let listener: Listener
  beforeAll(async () => {
    const answer = createApplication(
      [
        async (context) => {
          if (context.method === 'POST') await bodies.readText(context.req, 'client').catch(() => '')
          context.body = context.path === '/large' ? Buffer.alloc(64 * 2 ** 20) : 'ok'
        },
      ],
      quiet,
    )
    const failureBody = (status: number, message: string): string => JSON.stringify({ status, message })
    listener = await listen({ address: '127.0.0.1', port: 0, handler: answer, failureBody, timing: brief })
  })
  afterAll(() => listener.close())

  /** Sends an incomplete request, and reads until the server closes the connection. */
  function sendPart(part: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = ''
      const socket = connect(listener.port, '127.0.0.1', () => socket.write(part))
      socket.on('data', (chunk) => (text += chunk.toString()))
      socket.on('error', reject).on('close', () => {
        resolve(text)
      })
    })
  }

  it('clients that do not complete their headers or body get an error and are disconnected', async () => {
    const late = /^HTTP\/1\.1 408 [^]*"status":408,"message":"The request did not arrive in time"/
    expect(await sendPart('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')).toMatch(late)
    expect(await sendPart('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12')).toMatch(late)
  })

  it('clients that do not read their response are disconnected', async () => {
    const socket = await new Promise<Socket>((resolve) => {
      const opened = connect(listener.port, '127.0.0.1', () => {
        opened.pause()
        opened.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
        resolve(opened)
      })
    })
    await new Promise((resolve) => {
      const look = setInterval(() => {
        listener.server.getConnections((_error, count) => {
          if (count > 0) return
          clearInterval(look)
          resolve(undefined)
        })
      }, 20)
    })
    socket.destroy()
  })

  it('stalled requests do not delay other clients', async () => {
    const idle = await Promise.all(
      Array.from(
        { length: 50 },
        () =>
          new Promise<Socket>((resolve) => {
            const socket = connect(listener.port, '127.0.0.1', () => {
              socket.write('GET / HT')
              resolve(socket)
            }).on('error', () => undefined)
          }),
      ),
    )
    const status = await new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port: listener.port, path: '/' }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(200)
    for (const socket of idle) socket.destroy()
  })
})
