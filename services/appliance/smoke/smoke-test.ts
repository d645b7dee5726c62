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

/** Options of the smoke test. */
export interface SmokeOptions {
  /** Address of the proxy. */
  readonly url: string
  /** Take any certificate. */
  readonly insecure: boolean
  /** Key of the state service. */
  readonly apiKey: string | undefined
  /** Account whose ABI is requested. */
  readonly account: string
  /** How long a socket may take to deliver an event, and a young chain to deploy its contracts. */
  readonly waitMs: number
  readonly report: (result: CheckResult) => void
}

const consoleData = z.object({ data: z.object({ state_port: z.number() }) })

/** The state service is behind the same proxy; without one, on the port of its own that the console knows. */
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
 * If nothing answers, every check would fail alike, so this fails first.
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
 * Asks a running appliance for one thing of everything it serves.
 * @throws RetryableError `SERVICE_REFUSED` or `UNHEALTHY` when nothing answers at the address.
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
