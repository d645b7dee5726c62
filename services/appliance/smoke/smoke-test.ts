import { z } from 'zod'
import { isConnectionRefused, RetryableError } from '../../core/errors/index.ts'
import { apiChecks } from './api-checks.ts'
import { runChecks } from './check.ts'
import type { CheckResult } from './check.ts'
import { createClient } from './client.ts'
import type { Ask } from './client.ts'
import { liveChecks } from './live-checks.ts'
import { proxyChecks } from './proxy-checks.ts'
import { stateChecks } from './state-checks.ts'

export type { CheckResult } from './check.ts'

export interface SmokeOptions {
  /** URL of the proxy. */
  readonly url: string
  /** Whether the test accepts any certificate of the proxy. */
  readonly insecure: boolean
  /** API key of the state service. */
  readonly apiKey: string | undefined
  /** Account whose ABI the test requests from the state service. */
  readonly account: string
  /**
   * How long the test waits, in ms: for an event on a socket, and until a new chain has the contracts of the API.
   */
  readonly waitMs: number
  readonly report: (result: CheckResult) => void
}

const consoleData = z.object({ data: z.object({ state_port: z.number() }) })

/**
 * Client of the state service: at the URL of the proxy, or without a proxy at the port that the console reports.
 */
async function findState(base: URL, ask: Ask, insecure: boolean): Promise<Ask> {
  const answer = await ask('/status/data.json').catch(() => undefined)
  if (answer?.status !== 200) return ask
  const found = consoleData.safeParse(JSON.parse(answer.text))
  if (!found.success) return ask
  const state = new URL(base)
  state.port = String(found.data.data.state_port)
  return createClient(state, insecure)
}

const unreachable: readonly unknown[] = ['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EPROTO']

/**
 * Sends one request, and fails if no server answers. Otherwise each check would fail with the same error.
 * @throws RetryableError `SERVICE_REFUSED`, `UNHEALTHY`.
 */
async function reach(url: string, ask: Ask): Promise<void> {
  await ask('/').catch((cause: unknown) => {
    if (isConnectionRefused(cause)) throw new RetryableError('SERVICE_REFUSED', `${url} refuses connections`)
    if (cause instanceof Error && 'code' in cause && unreachable.includes(cause.code))
      throw new RetryableError('UNHEALTHY', `nothing answers at ${url}`, { cause })
  })
}

/**
 * Tests a running appliance with a request to each service.
 * @throws RetryableError `SERVICE_REFUSED` or `UNHEALTHY` if no server answers at the URL.
 */
export async function smokeTest(options: SmokeOptions): Promise<CheckResult[]> {
  const base = new URL(options.url)
  const ask = createClient(base, options.insecure)
  await reach(options.url, ask)
  return runChecks(
    [
      ...proxyChecks(base, ask, options.insecure),
      ...apiChecks(ask, options.waitMs),
      ...liveChecks(base, ask, options.insecure, options.waitMs),
      ...stateChecks(await findState(base, ask, options.insecure), options.apiKey, options.account),
    ],
    options.report,
  )
}
