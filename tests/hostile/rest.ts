import { Agent, request } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { connect } from 'node:net'
import { createNamespace } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { createChoices } from '../../scripts/compare/requests/choices.ts'
import type { Choices } from '../../scripts/compare/requests/choices.ts'
import { makeRequest } from '../../scripts/compare/requests/hostile.ts'
import type { FuzzRequest, Target } from '../../scripts/compare/requests/hostile.ts'
import { collectValues } from '../../scripts/compare/requests/values.ts'
import type { KnownValues } from '../../scripts/compare/requests/values.ts'
import { patient } from '../setup/patience.ts'
import { noise } from './ship-relay.ts'
import { isHonest, Tally } from './tally.ts'

const PATIENCE_MS = patient(60_000)
/** Time after which a connection without an answer is closed, ms: some attacks send requests that never end. */
const RAW_PATIENCE_MS = 700

/** Endpoints and valid values of a server, from which attacks are generated. */
export interface RestKnowledge {
  readonly targets: readonly Target[]
  readonly known: KnownValues
}

/** Reads the endpoints of a server, and values from its lists. */
export async function learnRest(
  served: readonly unknown[],
  ask: (path: string) => Promise<{ status: number; body: unknown }>,
): Promise<RestKnowledge> {
  const { config } = parseConfig({ server: { namespaces: served } })
  const targets = config.server.namespaces.flatMap((entry) =>
    (createNamespace(entry, { trigrams: true })?.endpoints ?? []).map((endpoint) => ({
      prefix: entry.path,
      endpoint,
    })),
  )
  const answers = []
  for (const { prefix, endpoint } of targets.filter(({ endpoint }) => !endpoint.path.includes(':'))) {
    const path = prefix + endpoint.path
    answers.push({ path, url: path, ...(await ask(`${path}?limit=20`)) })
  }
  return { targets, known: collectValues(answers) }
}

/** Creates a function that requests paths of the server at `url`. */
export function fetchFrom(url: string): (path: string) => Promise<{ status: number; body: unknown }> {
  return async (path) => {
    const response = await fetch(url + path)
    return { status: response.status, body: await response.json().catch(() => ({})) }
  }
}

/** Sends requests with nonsensical parameters, bodies and paths. */
export class RestAttack {
  readonly tally = new Tally('api: requests')
  readonly #url: URL
  readonly #knowledge: RestKnowledge
  readonly #agent: Agent
  readonly #request: typeof request

  /** @param url URL of an API, or of a proxy with a self-signed certificate. */
  constructor(url: string, knowledge: RestKnowledge) {
    this.#url = new URL(url)
    this.#knowledge = knowledge
    const isSecure = this.#url.protocol === 'https:'
    const options = { keepAlive: true, maxSockets: 64 }
    this.#agent = isSecure ? new SecureAgent({ ...options, rejectUnauthorized: false }) : new Agent(options)
    this.#request = isSecure ? secureRequest : request
  }

  /** Sends the random request that the seed determines. */
  async send(seed: number): Promise<void> {
    const random = createChoices(seed)
    const fuzz = makeRequest(this.#knowledge.targets, this.#knowledge.known, random)
    this.tally.sent++
    const status = await this.#ask(fuzz, addressOf(random)).catch((error: unknown) =>
      String((error as { code?: unknown }).code ?? error),
    )
    this.tally.note(String(status))
    if (typeof status === 'string' || !isHonest(status))
      this.tally.blame(`seed ${seed} ${fuzz.method} ${fuzz.target} ${fuzz.body ?? ''} -> ${status}`)
  }

  close(): void {
    this.#agent.destroy()
  }

  #ask({ method, target, headers, body }: FuzzRequest, address: string): Promise<number> {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    return new Promise((resolve, reject) => {
      const sent = this.#request(
        {
          host: this.#url.hostname,
          port: this.#url.port,
          agent: this.#agent,
          method,
          path: target,
          headers: { 'x-forwarded-for': address, ...headers, ...length },
        },
        (response) => {
          response.on('data', () => undefined)
          response.on('error', reject)
          response.on('end', () => resolve(response.statusCode ?? 0))
        },
      )
      sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error('no answer within a minute')))
      sent.on('error', reject).end(body)
    })
  }
}

/** A random client address for the `X-Forwarded-For` header. */
export function addressOf(random: Choices): string {
  return `10.${random.below(64)}.${random.below(256)}.${random.below(256)}`
}

/** Sends raw bytes over TCP: invalid requests, and requests that are barely valid. */
export class RawAttack {
  readonly tally: Tally
  readonly #host: string
  readonly #port: number
  readonly #paths: readonly string[]

  constructor(name: string, url: string, paths: readonly string[]) {
    const { hostname, port } = new URL(url)
    this.tally = new Tally(`${name}: bytes over TCP`)
    this.#host = hostname
    this.#port = Number(port)
    this.#paths = paths
  }

  /** Opens a connection and sends the random bytes that the seed determines. Notes the status of every answer. */
  async send(seed: number): Promise<void> {
    const random = createChoices(seed)
    const bytes = oddRequest(random, random.pick(this.#paths))
    this.tally.sent++
    const answer = await this.#exchange(bytes)
    const statuses = [...answer.matchAll(/(?:^|\n)HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
    if (statuses.length === 0) this.tally.note('no answer')
    for (const status of statuses) {
      this.tally.note(String(status))
      if (!isHonest(status))
        this.tally.blame(
          `seed ${seed} ${JSON.stringify(bytes.toString('latin1').slice(0, 300))} -> ${status}`,
        )
    }
  }

  #exchange(bytes: Buffer): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, this.#host)
      let answer = ''
      const timer = setTimeout(() => socket.destroy(), RAW_PATIENCE_MS)
      socket.on('data', (chunk: Buffer) => {
        if (answer.length < 20_000) answer += chunk.toString('latin1')
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        clearTimeout(timer)
        resolve(answer)
      })
      // Half-open: some servers reply only once the client has finished sending.
      socket.write(bytes)
      if (bytes.length % 3 === 0) socket.end()
    })
  }
}

function oddRequest(random: Choices, path: string): Buffer {
  const get = (more: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${addressOf(random)}\r\n${more}\r\n`
  const post = (more: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}\r\n${body}`
  const texts: readonly (() => string)[] = [
    () => noise(random, 1 + random.below(400)).toString('latin1'),
    () => `GET ${path}\r\n\r\n`,
    () => `GET ${path} HTTP/${random.below(10)}.${random.below(10)}\r\nHost: x\r\nConnection: close\r\n\r\n`,
    () =>
      `${random.pick(['get', 'PROPFIND', 'CONNECT', 'TRACE', 'PRI', 'X'.repeat(200)])} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`,
    () =>
      `GET ${random.pick(['http://x', '*', '', '?', '\\', '//', 'http://[::'])}${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    () => get(`A: ${'b'.repeat(100_000)}\r\n`),
    () => get('A: b\r\n'.repeat(3_000)),
    () => get('Connection: close\r\nA b\r\n'),
    () => get('Connection: close\r\nX: a\0b\r\n'),
    () =>
      get(
        `Connection: close\r\nAccept-Encoding: ${random.pick(['br;q=x', '*;q=0', ','.repeat(5_000), 'gzip, '.repeat(1_000)])}\r\n`,
      ),
    () => get(`Connection: close\r\nIf-None-Match: ${'"x", '.repeat(2_000)}\r\n`),
    () => get(`Connection: close\r\nRange: bytes=${'0-,'.repeat(1_000)}\r\n`),
    () => get(`Connection: close\r\nOrigin: ${'x'.repeat(random.below(3_000))}\r\n`),
    () =>
      get(
        `Connection: close\r\nX-Forwarded-For: ${'1.1.1.1, '.repeat(500)}${random.pick(['', '::', '1.2.3', '[::1]:9', '\t'])}\r\n`,
      ),
    () => get('').repeat(20) + get('Connection: close\r\n'),
    () => post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\nGET / HTTP/1.1\r\n\r\n'),
    () =>
      post(
        'Transfer-Encoding: chunked\r\n',
        `${random.pick(['zz', '-1', 'ffffffffffffffff', '5;' + 'x'.repeat(20_000)])}\r\nabc\r\n`,
      ),
    () => post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
    () => post(`Content-Length: ${random.pick(['-1', '9'.repeat(30), '1, 2', '0x5', ' '])}\r\n`, '{}'),
    () => post('Content-Length: 100000\r\n', '{"limit":'),
    () => post('Content-Length: 20\r\nContent-Encoding: gzip\r\n', '\x1f\x8b\x08\0\0\0\0\0\0\x03garbage---'),
    () =>
      post(
        `Content-Length: 2\r\nContent-Encoding: ${random.pick(['br', 'x', 'gzip, gzip, gzip', 'deflate'])}\r\n`,
        '{}',
      ),
    () => post(`Expect: ${random.pick(['100-continue', 'x'])}\r\nContent-Length: 2\r\n`, '{}'),
    () =>
      get(
        `Connection: Upgrade\r\nUpgrade: ${random.pick(['websocket', 'h2c', 'x'])}\r\nSec-WebSocket-Version: ${random.below(20)}\r\nSec-WebSocket-Key: ${'A'.repeat(random.below(40))}\r\n`,
      ),
    () => `GET ${path} HTTP/1.1\r\nHost: x\r\nA: `,
    () => `\r\n\r\n\r\n${get('Connection: close\r\n')}`,
    () => `GET ${path} HTTP/1.1\nHost: x\nConnection: close\n\n`,
    () => `GET ${path} HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n`,
    () => `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`,
  ]
  return Buffer.from(random.pick(texts)(), 'latin1')
}
