import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resolveVariables } from '../../services/appliance/index.ts'
import { renderNginx } from '../../services/appliance/render/nginx.ts'
import { describeUnless } from '../setup/available.ts'
import { whyNoEngine } from './engine.ts'
import { findFreePort } from '../../services/core/http/index.ts'

const image = 'nginx:1.28.0-bookworm'
const { values } = resolveVariables({ DEMO_CHAIN: 'true', TLS_MODE: 'off' })

function whyNot(): string | undefined {
  const reason = whyNoEngine()
  if (reason !== undefined) return reason
  try {
    execFileSync('docker', ['image', 'inspect', image], { stdio: 'ignore' })
    return undefined
  } catch {
    return `the image ${image} is not on this machine`
  }
}

describeUnless(whyNot(), 'failures of the proxy itself', () => {
  let dir: string
  let port: number
  let proxy: ChildProcess
  const name = `pronghorn-proxy-${process.pid}`
  const sockets: Socket[] = []
  // The api: answers /quick, and keeps everything else waiting.
  let waitingRequests = 0
  const api = createServer((request, response) => {
    if (request.url === '/quick') response.end('quick')
    else waitingRequests++
  })

  /** What the proxy answers to the bytes of a request: status, body, and headers by small name. */
  const ask = async (head: string, body = ''): Promise<Answer> => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.write(`${head}\r\n\r\n${body}`)
    const parts: Buffer[] = []
    await new Promise<void>((resolve) => {
      socket.once('close', resolve)
      // The proxy waits a while for a body that it refused.
      socket.on('data', (part) => {
        parts.push(part)
        const { headers, body } = readAnswer(Buffer.concat(parts).toString('utf8'))
        if (body.length === Number(headers['content-length'])) resolve()
      })
    })
    socket.destroy()
    return readAnswer(Buffer.concat(parts).toString('utf8'))
  }
  const get = (path: string, more = ''): Promise<Answer> =>
    ask(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close${more}`)

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pronghorn-proxy-'))
    port = await findFreePort()
    const gone = await findFreePort()
    api.listen(0, '127.0.0.1')
    await once(api, 'listening')
    // The containers that it knows are not here, and a test has fewer connections than a flood.
    const text = renderNginx(values, false)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replaceAll('http://api:9000', `http://127.0.0.1:${(api.address() as AddressInfo).port}`)
      .replaceAll(/http:\/\/(?:state:9010|hasura:8080)/g, `http://127.0.0.1:${gone}`)
      .replace('limit_conn addresses 512', 'limit_conn addresses 3')
    await writeFile(join(dir, 'nginx.conf'), text)
    const words = ['run', '--rm', '--name', name, '--network', 'host', '--user', '101:101', '--read-only']
    const mounts = ['--tmpfs', '/tmp:mode=1777', '--volume', `${dir}:/etc/pronghorn:ro`]
    const run = ['-c', '/etc/pronghorn/nginx.conf', '-g', 'daemon off;']
    execFileSync('chmod', ['-R', 'a+rX', dir])
    proxy = spawn('docker', [...words, ...mounts, '--entrypoint', 'nginx', image, ...run], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    for (let tries = 0; tries < 300 && (await get('/quick')).status !== 200; tries++) await sleep(100)
  })

  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    execFileSync('docker', ['rm', '--force', name], { stdio: 'ignore' })
    proxy.kill()
    api.close()
    api.closeAllConnections()
    await rm(dir, { recursive: true, force: true })
  })

  it.each<readonly [what: string, status: number, head: string]>([
    ['a malformed request', 400, 'GET / x y'],
    ['a host name that is none', 400, 'GET / HTTP/1.1\r\nHost: a b'],
    [
      'headers that are too large',
      400,
      `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Large: ${'a'.repeat(40_000)}`,
    ],
    ['an address that is too long', 414, `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: localhost`],
    ['a method that it does not know', 405, 'TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close'],
    [
      'a body that is too large',
      413,
      'POST /atomicassets/v1/assets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\nConnection: close',
    ],
    [
      'a service that does not answer',
      503,
      'GET /v0/state/abi HTTP/1.1\r\nHost: localhost\r\nConnection: close',
    ],
    [
      'GraphQL without its profile',
      404,
      'POST /v1/graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close',
    ],
  ])('%s has the form of the api and the headers for browsers', async (_what, status, head) => {
    const answer = await ask(head)
    expect(answer).toMatchObject({ status, headers: { 'access-control-allow-origin': '*' } })
    expect(JSON.parse(answer.body)).toEqual({ success: false, message: expect.any(String) as string })
    expect(answer.headers['content-type']).toBe('application/json')
    if (status === 503) expect(answer.headers['retry-after']).toBe('5')
  })

  it('the proxy lets a browser ask whether it may, while a service does not answer', async () => {
    const { status, headers } = await ask(
      'OPTIONS /v0/state/abi HTTP/1.1\r\nHost: localhost\r\nConnection: close',
    )
    expect([status, headers['access-control-allow-headers']]).toEqual([204, '*'])
  })

  it('the proxy refuses too many connections of one address, until one is closed', async () => {
    const before = waitingRequests
    const waiting = [1, 2, 3].map(() => {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      socket.write('GET /waits HTTP/1.1\r\nHost: localhost\r\n\r\n')
      return socket
    })
    // A request at the same time would take the place of one of them.
    await expect.poll(() => waitingRequests - before).toBe(3)
    await expect.poll(() => get('/quick').then(({ status }) => status)).toBe(429)
    const answer = await get('/quick')
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'retry-after': '1' })
    expect(JSON.parse(answer.body)).toMatchObject({ success: false })
    for (const socket of waiting) socket.destroy()
    await sleep(100)
    await expect.poll(() => get('/quick').then(({ status }) => status)).toBe(200)
  })
})

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function readAnswer(text: string): Answer {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, Math.max(0, end)).split('\r\n')
  const headers = lines.map((line) => {
    const at = line.indexOf(': ')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 2)] as const
  })
  return {
    status: Number(first.split(' ')[1] ?? 0),
    headers: Object.fromEntries(headers),
    body: end < 0 ? '' : text.slice(end + 4),
  }
}
