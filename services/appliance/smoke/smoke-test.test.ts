import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { smokeTest } from './smoke-test.ts'
import type { CheckResult } from './check.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/**
 * Runs the smoke test against a server without events and without the tools contract.
 *
 * @param readers readers in the server's `/health` answer, all at their stop_block. If there are any, no config endpoint
 * finds a configuration, as if the stop_block were below the first configuration row of the contracts.
 */
async function testQuietServer(
  status: string,
  readers: readonly { name: string; state: string }[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<Map<string, CheckResult>> {
  const answers: Record<string, unknown> = {
    '/openapi.json': {
      openapi: '3.1.0',
      paths: { '/a/v1/config': {}, '/a/v1/assets': {}, '/t/v1/config': {}, '/t/v1/links': {} },
    },
    '/health': {
      version: '1',
      chain: { chain_id: '', service: { status, reasons: ['no blocks'], readers } },
      postgres: { readers: readers.map(({ name }) => ({ name, block_num: '7' })) },
    },
    ...(readers.length > 0 ? {} : { '/a/v1/config': {} }),
    '/a/v1/assets': [],
    '/t/v1/links': [],
  }
  const quiet = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    const data = answers[path]
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (data === undefined) {
      response.writeHead(416).end('{"success":false,"message":"Config not found"}')
    } else {
      response.end(JSON.stringify(path === '/openapi.json' ? data : { success: true, data, query_time: 1 }))
    }
  })
  server = quiet
  new WebSocketServer({ server: quiet, path: '/a/v1/live' }).on('connection', (socket) => {
    socket.on('message', () => socket.send('{"type":"subscribed","id":"smoke"}'))
  })
  await new Promise<void>((resolve) => quiet.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(quiet.address() as AddressInfo).port}`
  const options = { url, insecure: true, apiKey: undefined, account: 'eosio', waitMs: 1_000 }
  const results = await smokeTest({ ...options, report: () => undefined })
  return new Map(results.map((result) => [result.name, result]))
}

it('the smoke test passes for a healthy server, even without events and without the tools contract', async () => {
  const results = await testQuietServer('healthy')
  expect(results.get('socket event')).toMatchObject({
    outcome: 'ok',
    note: expect.stringContaining('quiet') as string,
  })
  expect(results.get('config endpoints')).toMatchObject({
    outcome: 'ok',
    note: '/a/v1/config /t/v1/config (no configuration yet)',
  })
})

it('the smoke test passes for a server whose readers are at their stop_block, and reports the stop_block', async () => {
  const results = await testQuietServer('healthy', [{ name: 'main', state: 'stopped at stop_block 7' }])
  expect(results.get('health')).toMatchObject({
    outcome: 'ok',
    note: expect.stringContaining('main stopped at stop_block 7') as string,
  })
  expect(results.get('socket event')?.note).toContain('every reader is at its stop_block')
  expect(results.get('config endpoints')).toMatchObject({
    outcome: 'ok',
    note: '/a/v1/config (no configuration yet) /t/v1/config (no configuration yet)',
  })
})

it.each([
  [{ 'access-control-allow-origin': '*' }, 'ok', 'CORS for *'],
  [{ vary: 'Accept-Encoding, Origin' }, 'ok', 'CORS for the origins of server.config.json'],
  [{ vary: 'Accept-Encoding' }, 'failed', 'neither Access-Control-Allow-Origin nor Vary: Origin'],
])('the smoke test checks the CORS headers: %j', async (headers, outcome, note) => {
  const found = (await testQuietServer('healthy', [], headers)).get('headers')
  expect(found).toMatchObject({ outcome, note: expect.stringContaining(note) as string })
})

it('the smoke test fails if it receives no event from an unhealthy service', async () => {
  const results = await testQuietServer('stalled')
  expect(results.get('socket event')).toMatchObject({
    outcome: 'failed',
    note: expect.stringContaining('no blocks') as string,
  })
})
