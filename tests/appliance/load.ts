import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

/** Failures that the clients saw during a step. */
export interface StepReport {
  readonly step: string
  readonly seconds: number
  readonly requests: number
  /** Number of requests without an answer: refused, reset or timed out. */
  readonly unanswered: number
  /** Number of answers with status 500 or above. */
  readonly failed: number
  /** Number of clock seconds with at least one unanswered or failed request. */
  readonly failedSeconds: number
  readonly p99Ms: number
  readonly slowestMs: number
  /** Number of occurrences of each failure. */
  readonly causes: Readonly<Record<string, number>>
}

interface Sample {
  readonly atMs: number
  readonly tookMs: number
  /** Cause of the failure; empty if the status is below 500. */
  readonly cause: string
}

const TIMEOUT_MS = 15_000

/** Paths that answer independently of the reader. /health is absent: it fails while the reader is silent. */
export const paths = [
  '/atomicassets/v1/assets?limit=20',
  '/atomicassets/v1/collections',
  '/atomicmarket/v2/sales?limit=10',
  '/atomicassets/v1/templates?limit=10',
]

/** Counters of a step in which no request failed. */
export const isClean = { unanswered: 0, failed: 0 }

/**
 * Clients that request the paths in turn, each one after the answer to its last request. Half of the clients open a new
 * connection for each request.
 */
export class Load {
  readonly #samples: Sample[] = []
  readonly #clients: Promise<void>[] = []
  readonly #url: string
  readonly #paths: readonly string[]
  readonly #pauseMs: number
  #isStopping = false

  /** @param pauseMs pause of each client between an answer and the next request. */
  constructor(url: string, paths: readonly string[], clients: number, pauseMs = 10) {
    this.#url = url
    this.#paths = paths
    this.#pauseMs = pauseMs
    for (let place = 0; place < clients; place++) this.#clients.push(this.#ask(place))
  }

  /** Runs a step and reports the failures that clients saw during the step. */
  async during(step: string, work: () => Promise<unknown>): Promise<StepReport> {
    const first = this.#samples.length
    const startedMs = performance.now()
    await work()
    return describe(step, (performance.now() - startedMs) / 1_000, this.#samples.slice(first))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#clients)
  }

  async #ask(place: number): Promise<void> {
    const agent = new Agent({ keepAlive: place % 2 === 0, maxSockets: 1, rejectUnauthorized: false })
    for (let turn = place; !this.#isStopping; turn++) {
      const startedMs = performance.now()
      const path = this.#paths[turn % this.#paths.length]!
      const cause = await askOnce(agent, this.#url + path).catch((error: unknown) => causeOf(error))
      this.#samples.push({ atMs: Date.now(), tookMs: performance.now() - startedMs, cause })
      await sleep(this.#pauseMs)
    }
    agent.destroy()
  }
}

function askOnce(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, timeout: TIMEOUT_MS }, (answer) => {
      answer.on('error', reject)
      answer.on('end', () => {
        const status = answer.statusCode ?? 0
        resolve(status >= 500 ? `status ${status}` : '')
      })
      answer.resume()
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.on('error', reject)
    sent.end()
  })
}

function causeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

function describe(step: string, seconds: number, samples: readonly Sample[]): StepReport {
  const times = samples.map(({ tookMs }) => tookMs).sort((a, b) => a - b)
  const bad = samples.filter(({ cause }) => cause !== '')
  const causes: Record<string, number> = {}
  for (const { cause } of bad) causes[cause] = (causes[cause] ?? 0) + 1
  return {
    step,
    seconds: Math.round(seconds),
    requests: samples.length,
    unanswered: bad.filter(({ cause }) => !cause.startsWith('status')).length,
    failed: bad.filter(({ cause }) => cause.startsWith('status')).length,
    failedSeconds: new Set(bad.map(({ atMs }) => Math.floor(atMs / 1_000))).size,
    p99Ms: Math.round(times[Math.floor(times.length * 0.99)] ?? 0),
    slowestMs: Math.round(times.at(-1) ?? 0),
    causes,
  }
}

/** Formats the step reports as a Markdown table. */
export function tableOf(reports: readonly StepReport[]): string {
  const head = '| Step | Takes | Requests | Unanswered | 5xx | Seconds with failures | p99 | Slowest |'
  const lines = reports.map(
    (row) =>
      `| ${row.step} | ${row.seconds} s | ${row.requests} | ${row.unanswered} | ${row.failed} | ${row.failedSeconds} | ` +
      `${row.p99Ms} ms | ${row.slowestMs} ms |${row.failedSeconds > 0 ? ` ${JSON.stringify(row.causes)}` : ''}`,
  )
  return [head, '|---|---|---|---|---|---|---|---|', ...lines].join('\n')
}
