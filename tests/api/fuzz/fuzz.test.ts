import { Agent, request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNamespace } from '../../../services/api/index.ts'
import type { NamespaceConfig } from '../../../services/core/config/schema/index.ts'
import { crawl } from '../../../scripts/compare/crawl.ts'
import type { OpenApiDocument } from '../../../scripts/compare/document.ts'
import { serveRecordings } from '../server.ts'
import type { TestServer } from '../server.ts'
import { createChoices } from '../../../scripts/compare/requests/choices.ts'
import type { FuzzRequest, Target } from '../../../scripts/compare/requests/hostile.ts'
import { makeRequest } from '../../../scripts/compare/requests/hostile.ts'
import type { KnownValues } from '../../../scripts/compare/requests/values.ts'
import { collectValues } from '../../../scripts/compare/requests/values.ts'
import { patient } from '../../setup/patience.ts'
import { roundsOfSeed, seedsBeside } from '../../setup/seeds.ts'

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? roundsOfSeed(1_000, 20_000))
/** Number of requests before the first memory measurement: the caches fill meanwhile. */
const WARM_UP = Math.floor(REQUESTS / 4)
const CONCURRENCY = 8
const MAX_GROWTH_BYTES = 96 * 1024 * 1024

/** Statuses that a request may cause. 408 is not allowed: no request takes that long on this chain. */
const allowed = new Set([200, 204, 302, 304, 400, 404, 405, 413, 414, 415, 416, 431])

let server: TestServer
let targets: Target[]
let known: KnownValues

beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'], { everything: true })
  const document = (await (await fetch(`${server.api.url}/openapi.json`)).json()) as OpenApiDocument
  known = collectValues(await crawl(server.api.url, document))
  const namespaces: NamespaceConfig[] = []
  for (const entry of server.config.server.namespaces) {
    // Skip namespaces whose contract is not indexed yet: their configuration is missing, so they answer 500.
    if ((await fetch(`${server.api.url}${entry.path}/v1/config`)).ok) namespaces.push(entry)
  }
  targets = namespaces.flatMap((entry) =>
    (createNamespace(entry, { trigrams: true })?.endpoints ?? []).map((endpoint) => ({
      prefix: entry.path,
      endpoint,
    })),
  )
})
afterAll(() => server.close())

interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly elapsedMs: number
}

const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
afterAll(() => agent.destroy())

function send({ method, target, headers, body }: FuzzRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request(
      {
        host: '127.0.0.1',
        port: server.api.port,
        agent,
        method,
        path: target,
        headers: { ...headers, ...length },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            text: response.headers['content-encoding'] === undefined ? Buffer.concat(chunks).toString() : '',
            elapsedMs: performance.now() - startedMs,
          })
        })
      },
    )
    sent.on('error', reject).end(body)
  })
}

/** Why an answer is unacceptable; undefined if it is valid. */
function problemOf({ method }: FuzzRequest, { status, type, text }: Answer): string | undefined {
  if (!allowed.has(status)) return `status ${status}: ${text.slice(0, 200)}`
  if (method === 'HEAD' || text === '' || status === 302) return undefined
  if (status !== 200) {
    const body = parse(text)
    const isEnvelope =
      body?.success === false && typeof body.message === 'string' && Object.keys(body).length === 2
    return isEnvelope && type.startsWith('application/json')
      ? undefined
      : `${status} without envelope: ${text.slice(0, 200)}`
  }
  if (!type.startsWith('application/json')) return undefined
  const body = parse(text)
  return body === undefined ? `no JSON: ${text.slice(0, 200)}` : undefined
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function collectGarbage(): number {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

it.each(seedsBeside(20_261_121))(
  `${REQUESTS} random requests cause no server error, and memory growth stays bounded, seed %i`,
  async (seed) => {
    expect(targets.length).toBeGreaterThan(30)
    const random = createChoices(seed)
    const problems: string[] = []
    const statuses: Record<string, number> = {}
    let sent = 0
    let slowest = { elapsedMs: 0, what: '' }
    const run = async (until: number): Promise<void> => {
      while (sent < until) {
        const number = sent++
        const fuzz = makeRequest(targets, known, random)
        const what = `#${number} ${fuzz.method} ${fuzz.target.slice(0, 300)} ${(fuzz.body ?? '').slice(0, 300)}`
        const answer = await send(fuzz).catch((error: unknown) => String(error))
        const problem = typeof answer === 'string' ? answer : problemOf(fuzz, answer)
        if (problem !== undefined) problems.push(`${what} -> ${problem}`)
        if (typeof answer === 'string') continue
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
        if (answer.elapsedMs > slowest.elapsedMs) slowest = { elapsedMs: answer.elapsedMs, what }
      }
    }
    const runAll = (until: number) => Promise.all(Array.from({ length: CONCURRENCY }, () => run(until)))
    await runAll(WARM_UP)
    const before = collectGarbage()
    await runAll(REQUESTS)
    const growth = collectGarbage() - before
    console.info(
      `fuzz: seed ${seed}, statuses ${JSON.stringify(statuses)}, memory ${(growth / 2 ** 20).toFixed(1)} MB more, ` +
        `slowest ${Math.round(slowest.elapsedMs)} ms: ${slowest.what}`,
    )
    expect(problems.slice(0, 30)).toEqual([])
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES)
    // The fuzz must produce both successful and failing requests; otherwise it tests nothing.
    expect(statuses[200]).toBeGreaterThan(REQUESTS / 4)
    expect(statuses[400]).toBeGreaterThan(REQUESTS / 20)
  },
  patient(600_000),
)
