import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readVariables } from '../../services/appliance/index.ts'
import { images } from '../../services/core/images/index.ts'
import { renderNginx } from '../../services/appliance/render/nginx.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless, findProgram } from '../setup/available.ts'
import { patient } from '../setup/patience.ts'
import { whyNoEngine } from './engine.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'

const IMAGE = images.nginx
const { values } = readVariables({
  ...{ DEMO_CHAIN: 'true', TLS_MODE: 'off' },
  // The test sends X-Forwarded-For headers to appear as clients of several addresses.
  TRUSTED_PROXIES: '127.0.0.1',
})

const { server } = parseConfig({
  server: { namespaces: [{ name: 'assets', path: '/assets', args: { assets_account: 'atomicassets' } }] },
}).config

/** Reason why nginx cannot run in its container; undefined if it can. */
function whyNoContainer(): string | undefined {
  const reason = whyNoEngine()
  if (reason !== undefined) return reason
  try {
    execFileSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' })
    return undefined
  } catch {
    return `the image ${IMAGE} is not on this machine`
  }
}

const local = whyNoContainer() === undefined ? undefined : findProgram('nginx')

describeUnless(local === undefined ? whyNoContainer() : undefined, 'failures of the proxy itself', () => {
  let dir: string
  let gone: number
  let port: number
  let proxy: ChildProcess
  let printed = ''
  /** Reads the access log. */
  const readLog = async (): Promise<string> =>
    local === undefined ? printed : readFile(join(dir, 'stdout'), 'utf8')
  const name = `pronghorn-proxy-${process.pid}`
  const sockets: Socket[] = []
  // A stand-in for the api that answers /quick and leaves all other requests unanswered.
  let waitingRequests = 0
  const api = createServer((request, response) => {
    if (request.url === '/quick') response.end('quick')
    else waitingRequests++
  })

  /** Sends a request and returns the status, the body, and the headers by lower-case name. */
  const ask = async (head: string, body = ''): Promise<Answer> => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.write(`${head}\r\n\r\n${body}`)
    const parts: Buffer[] = []
    await new Promise<void>((resolve) => {
      socket.once('close', resolve)
      // The proxy keeps the connection open for a while to read a body that it has refused.
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
    gone = await findFreePort()
    api.listen(0, '127.0.0.1')
    await once(api, 'listening')
    // Replace the addresses of containers, which do not run here, and lower the connection limit so that the test can
    // exceed it.
    const text = renderNginx(values, server, false)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replaceAll('http://api:9000', `http://127.0.0.1:${(api.address() as AddressInfo).port}`)
      .replaceAll(/http:\/\/(?:state:9010|hasura:8080)/g, `http://127.0.0.1:${gone}`)
      .replace('limit_conn addresses 512', 'limit_conn addresses 3')
      .replace('proxy_read_timeout 15s', 'proxy_read_timeout 1s')
      .replaceAll(/\/(?:tmp|dev)\//g, local === undefined ? '$&' : `${dir}/`)
    await writeFile(join(dir, 'nginx.conf'), text)
    const words = ['run', '--rm', '--name', name, '--network', 'host', '--user', '101:101', '--read-only']
    const mounts = ['--tmpfs', '/tmp:mode=1777', '--volume', `${dir}:/etc/pronghorn:ro`]
    const run = ['-c', '/etc/pronghorn/nginx.conf', '-g', 'daemon off;']
    execFileSync('chmod', ['-R', 'a+rX', dir])
    const stdio: StdioOptions = ['ignore', 'pipe', 'inherit']
    proxy =
      local === undefined
        ? spawn('docker', [...words, ...mounts, '--entrypoint', 'nginx', IMAGE, ...run], { stdio })
        : spawn(local, ['-c', join(dir, 'nginx.conf'), '-g', 'daemon off;'], { stdio })
    proxy.stdout?.on('data', (text: Buffer) => (printed += text.toString()))
    for (let tries = 0; tries < 300 && (await get('/quick')).status !== 200; tries++) await sleep(100)
  })

  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    if (local === undefined) execFileSync('docker', ['rm', '--force', name], { stdio: 'ignore' })
    proxy.kill()
    await once(proxy, 'exit')
    api.close()
    api.closeAllConnections()
    await rm(dir, { recursive: true, force: true })
  })

  it.each<readonly [what: string, status: number, head: string]>([
    ['a malformed request', 400, 'GET / x y'],
    ['an invalid host name', 400, 'GET / HTTP/1.1\r\nHost: a b'],
    [
      'headers that are too large',
      400,
      `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Large: ${'a'.repeat(40_000)}`,
    ],
    ['an address that is too long', 414, `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: localhost`],
    ['a method unknown to the proxy', 405, 'TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close'],
    [
      'a body that is too large',
      413,
      'POST /atomicassets/v1/assets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\nConnection: close',
    ],
    [
      'a query of GraphQL that is too large',
      413,
      'POST /v1/graphql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000\r\nConnection: close',
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
  ])('the response to %s has the error format of the API and CORS headers', async (_what, status, head) => {
    const answer = await ask(head)
    expect(answer).toMatchObject({ status, headers: { 'access-control-allow-origin': '*' } })
    expect(JSON.parse(answer.body)).toEqual({ success: false, message: expect.any(String) as string })
    expect(answer.headers['content-type']).toBe('application/json')
    if (status === 503) expect(answer.headers['retry-after']).toBe('5')
  })

  it('the log contains the path of a request that the proxy refuses, but not its query', async () => {
    await ask('TRACE /refused/here?token=secret HTTP/1.1\r\nHost: localhost\r\nConnection: close')
    await expect.poll(readLog).toContain('"request":"TRACE /refused/here HTTP/1.1"')
    expect(await readLog()).not.toContain('secret')
  })

  it('the log has one line of JSON per request, with the response times of the upstream', async () => {
    await get('/quick', '\r\nUser-Agent: a "quoted" \\ name')
    await ask('TRACE /by-the-proxy HTTP/1.1\r\nHost: localhost\r\nConnection: close')
    await expect.poll(readLog).toContain('/by-the-proxy')
    const lines = (await readLog()).trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const seconds = expect.stringMatching(/^\d+\.\d{3}$/) as string
    expect(entries.find(({ agent }) => agent === 'a "quoted" \\ name')).toMatchObject({
      ...{ client: '127.0.0.1', request: 'GET /quick HTTP/1.1', host: 'localhost', status: 200, bytes: 5 },
      ...{ seconds: expect.any(Number) as number, upstream_status: '200', upstream_header_seconds: seconds },
      ...{ upstream_connect_seconds: seconds, upstream_seconds: seconds },
      upstream: `127.0.0.1:${(api.address() as AddressInfo).port}`,
    })
    const refused = entries.find(({ request }) => request === 'TRACE /by-the-proxy HTTP/1.1')
    expect(refused).toMatchObject({ status: 405, upstream_seconds: '' })
    for (const { time } of entries) expect(Date.parse(String(time))).not.toBeNaN()
  })

  it('a request without the required trailing slash is redirected to the path with the slash', async () => {
    const { status, headers } = await get('/v0')
    expect([status, headers.location]).toEqual([301, '/v0/'])
  })

  it('a GraphQL service that does not respond in time causes status 503', async () => {
    const hasura = createServer().listen(gone, '127.0.0.1')
    await once(hasura, 'listening')
    const answer = await get('/v1/graphql')
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
    hasura.closeAllConnections()
    hasura.close()
    await once(hasura, 'close')
  })

  it('the response to too many GraphQL queries has the error format of the API and CORS headers', async () => {
    let answer = await get('/v1/graphql')
    for (let tries = 0; tries < 100 && answer.status !== 429; tries++) answer = await get('/v1/graphql')
    expect(answer).toMatchObject({ status: 429, headers: { 'access-control-allow-origin': '*' } })
    expect(JSON.parse(answer.body)).toMatchObject({ success: false })
  })

  it('the proxy answers CORS preflight while an upstream is down', async () => {
    const { status, headers } = await ask(
      'OPTIONS /v0/state/abi HTTP/1.1\r\nHost: localhost\r\nConnection: close',
    )
    expect([status, headers['access-control-allow-headers']]).toEqual([204, '*'])
  })

  it('the proxy refuses too many connections from one address until one closes', async () => {
    const before = waitingRequests
    const waiting = [1, 2, 3].map(() => {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      socket.write('GET /waits HTTP/1.1\r\nHost: localhost\r\n\r\n')
      return socket
    })
    // Wait until the three requests occupy the three allowed connections. An earlier request for /quick would take one
    // of these connections.
    await expect.poll(() => waitingRequests - before).toBe(3)
    await expect.poll(() => get('/quick').then(({ status }) => status)).toBe(429)
    const answer = await get('/quick')
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'retry-after': '1' })
    expect(JSON.parse(answer.body)).toMatchObject({ success: false })
    for (const socket of waiting) socket.destroy()
    await sleep(100)
    await expect.poll(() => get('/quick').then(({ status }) => status)).toBe(200)
  })

  it.each([
    ['2001:db8:1:2ff::1', '2001:db8:1:200:ffff::2', '2001:db8:1:3ff::1'],
    ['2001:db8:a0a:a0a:a0a::', '2001:db8:a0a:aff:a::', '2001:db8:a0a:b0a:a0a::'],
    ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.2'],
    // 127.0.0.1 is a trusted proxy, so the preceding address in the header is the client's.
    ['192.0.2.5, 127.0.0.1', '192.0.2.5', '192.0.2.6, 127.0.0.1'],
  ])(
    'the proxy counts the addresses %s and %s as one client, and %s as another',
    async (one, same, other) => {
      const from = (address: string): string => `\r\nX-Forwarded-For: ${address}`
      const statusFor = (path: string, address: string): Promise<number> =>
        get(path, from(address)).then(({ status }) => status)
      const before = waitingRequests
      const waiting = [one, same, one].map((address) => {
        const socket = connect(port, '127.0.0.1')
        sockets.push(socket)
        socket.write(`GET /waits HTTP/1.1\r\nHost: localhost${from(address)}\r\n\r\n`)
        return socket
      })
      await expect.poll(() => waitingRequests - before).toBe(3)
      expect([await statusFor('/quick', same), await statusFor('/quick', other)]).toEqual([429, 200])
      for (const socket of waiting) socket.destroy()
      await expect.poll(() => statusFor('/quick', one)).toBe(200)
      // Send GraphQL requests: no GraphQL service runs here, so a request below the rate limit gets 404.
      const ask = (address: string): Promise<number> => statusFor('/v1/graphql', address)
      const askAfter = async (): Promise<number> => {
        let status = await ask(one)
        for (let tries = 0; tries < 100 && status !== 429; tries++) status = await ask(one)
        return ask(same)
      }
      // On a busy machine the rate limit may admit the address `same` again, so try up to three times. If the proxy
      // counted `same` as another client, its three requests would stay below the limit.
      let sameStatus = await askAfter()
      for (let tries = 1; tries < 3 && sameStatus !== 429; tries++) sameStatus = await askAfter()
      expect([sameStatus, await ask(other)]).toEqual([429, 404])
    },
  )
})

it('the proxy logs only once why it cannot use a changed configuration', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pronghorn-proxy-'))
  const script = await readFile(join(packageRoot, 'infra/nginx/run.sh'), 'utf8')
  await writeFile(join(dir, 'run.sh'), script.replaceAll('/etc/pronghorn', dir))
  for (const name of ['nginx', 'certificates', 'bin']) await mkdir(join(dir, name))
  await writeFile(join(dir, 'nginx/nginx.conf'), '')
  const looks = join(dir, 'looks')
  const nginx = `#!/bin/sh
[ "$1" = -t ] || exec sleep 60
echo x >>'${looks}'
echo "2026/11/26 16:54:0$(($(wc -l <'${looks}') % 10)) [emerg] $$#$$: no such file" >&2
exit 1
`
  await writeFile(join(dir, 'bin/nginx'), nginx)
  await chmod(join(dir, 'bin/nginx'), 0o755)
  const env = { PATH: `${dir}/bin:${process.env.PATH ?? ''}`, RELOAD_SECONDS: '0.1' }
  const words = [join(dir, 'run.sh')]
  const running = spawn('sh', words, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  let said = ''
  running.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  try {
    // The watcher needs time to record the initial files before the test changes one.
    await sleep(500)
    await writeFile(join(dir, 'certificates/privkey.pem'), 'other')
    const times = async (): Promise<number> => (await readFile(looks, 'utf8').catch(() => '')).length / 2
    await expect.poll(times, { timeout: patient(20_000) }).toBeGreaterThan(3)
    expect(said).toBe(
      'the changed files cannot be used, and the previous certificate stays in use: [emerg] no such file\n',
    )
  } finally {
    process.kill(-running.pid!, 'SIGKILL')
    await rm(dir, { recursive: true, force: true })
  }
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
