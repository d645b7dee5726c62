import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { curlCommand, findDifferences } from '../../scripts/answers/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { patient } from '../setup/patience.ts'

type Answers = (
  path: string,
  request: IncomingMessage,
) => { status?: number; body: unknown; headers?: object }

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

const document = {
  paths: {
    '/a/v1/things': {
      get: {
        operationId: 'getThings',
        tags: ['a'],
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 10 } },
          {
            name: 'owner',
            in: 'query',
            schema: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } },
          },
        ],
        responses: { 200: { content: { 'application/json': {} } } },
      },
      post: {},
    },
  },
  components: { schemas: {}, parameters: {} },
}

/** Starts an HTTP server with one list endpoint and an OpenAPI document. */
async function serve(answers: Answers, described: unknown = document): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    const url = request.url ?? ''
    const {
      status = 200,
      body,
      headers = {},
    } = url === '/openapi.json' ? { body: described } : answers(url, request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const things =
  (owner: string | null): Answers =>
  () => ({
    body: { success: true, data: [{ asset_id: '1', owner }], query_time: Math.floor(Math.random() * 1e9) },
  })

/** Runs the command that compares two servers. Returns the exit code and the printed text. */
async function compare(...args: string[]): Promise<{ code: number | null; text: string }> {
  const script = join(packageRoot, 'dist/scripts/compare/compare.js')
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  child.stdout.on('data', (chunk) => (text += String(chunk)))
  child.stderr.on('data', (chunk) => (text += String(chunk)))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, text }
}

const small = ['--requests', '12', '--rate', '1000']

describe('the comparison of two servers', () => {
  it(
    'the comparison of two servers exits with 0 if only their clocks differ',
    async () => {
      const { code, text } = await compare(
        await serve(things('alice')),
        await serve(things('alice')),
        ...small,
      )
      expect(text).toContain('12 requests compared on 1 endpoints; 12 answers of 1 endpoints had content')
      expect([code, text]).toEqual([0, expect.stringContaining('0 unexpected kinds of differences')])
    },
    patient(30_000),
  )

  it(
    'the comparison of two servers exits with 1, groups the differences, and prints a curl command for each group',
    async () => {
      const base = await serve(things('alice'))
      const { code, text } = await compare(base, await serve(things(null)), ...small)
      expect(code).toBe(1)
      expect(text).toMatch(
        /\d+ x GET \/a\/v1\/things data\[\]\.owner: type string\/null\n +A "alice"\n +B null\n/,
      )
      expect(text).toContain(`curl -s '${base}/a/v1/things`)
      expect(text).toMatch(/\d+ x POST \/a\/v1\/things/)
    },
    patient(30_000),
  )

  it(
    'the comparison of two servers compares the OpenAPI documents of the servers',
    async () => {
      const other = { ...document, components: { ...document.components, schemas: { Thing: {} } } }
      const { code, text } = await compare(
        await serve(things('alice')),
        await serve(things('alice'), other),
        ...small,
      )
      expect([code, text]).toEqual([
        1,
        expect.stringContaining('GET /openapi.json components.schemas.Thing: only in B'),
      ])
    },
    patient(30_000),
  )

  it(
    'the comparison of two servers finds a server that reads a JSON body differently from a query string',
    async () => {
      const answers: Answers = (path, request) =>
        things(request.method === 'POST' ? 'bob' : 'alice')(path, request)
      const { code, text } = await compare(await serve(answers), await serve(answers), ...small)
      expect([code, text]).toEqual([
        1,
        expect.stringContaining('JSON request answered unlike the same parameters in the URL: value'),
      ])
    },
    patient(30_000),
  )

  it(
    'the comparison of two servers exits with 2 and names the server that cannot be compared',
    async () => {
      const base = await serve(things('alice'))
      const gone = 'http://127.0.0.1:9'
      expect(await compare(base, gone, ...small)).toEqual({
        code: 2,
        text: expect.stringMatching(
          /^BASE_B http:\/\/127\.0\.0\.1:9 cannot be reached: .*ECONNREFUSED/,
        ) as string,
      })
      expect((await compare(gone, base, ...small)).text).toMatch(/^BASE_A/)
      const slow = await serve(() => ({ status: 429, body: { success: false } }))
      expect(await compare(base, slow, ...small)).toEqual({
        code: 2,
        text: expect.stringContaining('answers 429: lower --rate') as string,
      })
      expect(await compare(base)).toEqual({ code: 2, text: expect.stringContaining('Usage:') as string })
      expect((await compare(base, base, '--rate', 'x')).text).toContain(
        '--rate x is not a whole number from 1 to',
      )
    },
    patient(60_000),
  )
})

describe('differences between two answers', () => {
  const of = (a: unknown, b: unknown) => findDifferences(a, b).map(({ path, kind }) => `${path} ${kind}`)

  it('the comparison of two answers names the path and the kind of each difference', () => {
    expect(of({ a: [{ asset_id: 1, x: 1 }] }, { a: [{ asset_id: 1, x: '1' }] })).toEqual([
      'a[].x type number/string',
    ])
    expect(of({ a: 1 }, { b: 1 })).toEqual(['a only in A', 'b only in B'])
    expect(of({ a: [1, 2] }, { a: [1] })).toEqual(['a length'])
    expect(of({ a: 1 }, { a: 1 })).toEqual([])
  })

  it('the comparison of two lists matches records by key, and reports a different order separately', () => {
    const [one, two] = [
      { asset_id: '1', owner: 'a' },
      { asset_id: '2', owner: 'b' },
    ]
    expect(of([one, two], [two, one])).toEqual([' order'])
    expect(of([one, two], [two])).toEqual([' records'])
    expect(of([one, two], [two, { ...one, owner: 'c' }])).toEqual([' order', '[].owner value'])
  })

  it('curlCommand quotes a request for the shell', () => {
    expect(
      curlCommand({ method: 'POST', url: 'http://h/a', headers: { 'content-type': 'x' }, body: "it's" }),
    ).toBe(String.raw`curl -s -H 'content-type: x' --data-raw 'it'\''s' 'http://h/a'`)
  })
})
