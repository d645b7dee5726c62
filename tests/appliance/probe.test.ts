import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'

const run = promisify(execFile)
const script = join(packageRoot, 'infra/probe.sh')
const program = join(packageRoot, 'dist/services/cli/main.js')

let server: Server
let port: number

beforeAll(async () => {
  server = createServer((request, response) =>
    response.writeHead(request.url === '/good' ? 200 : 503).end('answer'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

const isHealthy = (path: string, at: number, seconds = '5'): Promise<boolean> =>
  run('bash', [script, path, '127.0.0.1', String(at)], {
    env: { ...process.env, PROBE_SECONDS: seconds },
  }).then(
    () => true,
    () => false,
  )

it('the health probe succeeds on status 200, and fails on status 503 and without a server', async () => {
  expect(await isHealthy('/good', port)).toBe(true)
  expect(await isHealthy('/bad', port)).toBe(false)
  expect(await isHealthy('/good', await findFreePort())).toBe(false)
})

it('the health probe with --print prints the response, also if the check fails', async () => {
  const words = [script, '--print', '/bad', '127.0.0.1', String(port)]
  await expect(run('bash', words)).rejects.toMatchObject({ code: 1, stdout: 'answer\n' })
})

it('the health probe of a service that does not answer times out', async () => {
  const sockets: Socket[] = []
  const silent = createTcpServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  expect(await isHealthy('/good', (silent.address() as AddressInfo).port, '1')).toBe(false)
  for (const socket of sockets) socket.destroy()
  silent.close()
})

/** Returns the average processor time of a command in seconds, over several consecutive runs. */
async function measure(times: number, ...words: string[]): Promise<number> {
  const loop = `TIMEFORMAT='%U %S'; time (for i in $(seq ${times}); do ${words.join(' ')} >/dev/null; done)`
  const { stderr } = await run('bash', ['-c', loop])
  const [user = 0, system = 0] = stderr.trim().split(' ').map(Number)
  return (user + system) / times
}

it('the health probe takes less than a twentieth of the processor time of a start of the pronghorn program', async () => {
  const probe = await measure(20, 'bash', script, '/good', '127.0.0.1', String(port))
  const start = await measure(2, process.execPath, program, '--version')
  expect(probe).toBeGreaterThan(0)
  expect(probe * 20).toBeLessThan(start)
})

it('every container of the project is probed by the shell script, not by the pronghorn program', () => {
  const { services } = parse(readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8'), {
    merge: true,
  }) as {
    services: Record<string, { image: string; healthcheck?: { test: string[] } }>
  }
  const own = Object.values(services).filter(({ image }) => image.includes('PRONGHORN_IMAGE'))
  const tests = own.flatMap(({ healthcheck }) =>
    healthcheck === undefined ? [] : [healthcheck.test.slice(0, 3)],
  )
  expect(tests).toHaveLength(4)
  for (const test of tests) expect(test).toEqual(['CMD', 'bash', '/pronghorn/infra/probe.sh'])
})
