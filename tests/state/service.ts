import type { StateSettings } from '../../services/core/config/environment/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createApiKey, startState } from '../../services/state/index.ts'
import type { NewApiKey } from '../../services/state/access/api-keys.ts'
import type { RunningState } from '../../services/state/index.ts'
import type { StateOptions } from '../../services/state/start.ts'
import type { TestDatabase } from '../setup/database.ts'

/** Settings of a test's service: a free port, and limits that no test reaches by accident. */
const testSettings: StateSettings = {
  address: '127.0.0.1',
  port: 0,
  tokenTtlSeconds: 3_600,
  tokensPerMinute: 100_000,
  trustProxy: false,
  answerBytes: 33_554_432,
  answersBytes: 268_435_456,
  databaseConnections: 10,
  metricsPort: 0,
}

/** The chain whose blocks a test's database contains. */
export interface ServiceChain {
  readonly chainId: string
  readonly httpUrl: string
}

/** Starts the state service on a database that a reader has filled. */
export async function startService(
  database: TestDatabase,
  chain: ServiceChain,
  settings: Partial<StateSettings> = {},
  more: Partial<StateOptions> = {},
): Promise<RunningState> {
  const { config } = parseConfig({
    connections: {
      sqldb: database.address,
      chain: { name: 'test', chain_id: chain.chainId, http: chain.httpUrl, ship: 'ws://127.0.0.1:1' },
    },
  })
  return startState({
    connections: config.connections,
    settings: { ...testSettings, ...settings },
    logger: createLogger({ name: 'test', level: 'silent' }),
    ...more,
  })
}

/** Creates an API key, as `pronghorn keys create` does. */
export async function makeKey(
  database: TestDatabase,
  wanted: Partial<NewApiKey> = {},
): Promise<{ readonly key: string; readonly id: string }> {
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  try {
    return await createApiKey(client, { label: 'test', expiresAt: null, tokensPerMinute: null, ...wanted })
  } finally {
    await client.end()
  }
}

/** An answer with its body as JSON. */
export interface Answer<Body = Record<string, unknown>> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
  readonly text: string
}

/** A client of the state service. */
export class StateClient {
  readonly url: string
  token = ''

  constructor(url: string) {
    this.url = url
  }

  /** Exchanges an API key for a token, and sends the token with later requests. */
  async login(key: string): Promise<void> {
    const { body } = await this.post<{ token: string }>('/v1/auth/issue', JSON.stringify({ api_key: key }))
    this.token = body.token
  }

  get<Body = Record<string, unknown>>(
    path: string,
    query: Readonly<Record<string, string | number | boolean>> = {},
  ): Promise<Answer<Body>> {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    )
    return this.send(`${path}?${text.toString()}`, {})
  }

  post<Body = Record<string, unknown>>(
    path: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    return this.send(path, { method: 'POST', body, headers })
  }

  async send<Body = Record<string, unknown>>(path: string, init: RequestInit): Promise<Answer<Body>> {
    const headers = new Headers(init.headers)
    if (this.token !== '' && !headers.has('Authorization'))
      headers.set('Authorization', `Bearer ${this.token}`)
    const response = await fetch(`${this.url}${path}`, { redirect: 'manual', ...init, headers })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) as Body }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
