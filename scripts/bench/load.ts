/** The load of every bench: requests over keep-alive connections that do as little as possible. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { HttpClient } from './http-client.ts'
import type { MeasuredAnswer } from './http-client.ts'

/** What is asked. */
export interface LoadRequest {
  readonly path: string
  /** Lines such as `Accept: text/plain`. */
  readonly headers?: readonly string[]
}

/** How a load runs. */
export interface LoadOptions {
  readonly next: () => LoadRequest
  /** Time after which no request begins. */
  readonly seconds?: number
  /** Ends the load: no further request begins. */
  readonly signal?: AbortSignal
  /**
   * Requests a second, whatever the answers do; the time of a request counts from when it was due. Without it each
   * connection sends its next request when its last one is answered.
   */
  readonly perSecond?: number
  /** Milliseconds that a connection rests after an answer. */
  readonly restMs?: (answer: MeasuredAnswer) => number
}

/** What a load found. */
export class Load {
  readonly answers: readonly MeasuredAnswer[]
  readonly #seconds: number

  constructor(answers: readonly MeasuredAnswer[], seconds: number) {
    this.answers = answers
    this.#seconds = seconds
  }

  get requests(): number {
    return this.answers.length
  }

  get perSecond(): number {
    return this.answers.length / this.#seconds
  }

  /** Bytes of an answer, on average. */
  get bytes(): number {
    return this.answers.reduce((sum, { bytes }) => sum + bytes, 0) / this.answers.length
  }

  /** Answers with another status than these. */
  failures(...good: readonly number[]): number {
    return this.answers.filter(({ status }) => !good.includes(status)).length
  }

  /** Milliseconds of each answer with a status, or of all. */
  times(status?: number): number[] {
    return this.answers.flatMap((answer) =>
      status === undefined || answer.status === status ? answer.ms : [],
    )
  }
}

/** Connections to a server, which send one load after the other. */
export class LoadGenerator {
  readonly #url: string
  readonly #clients: HttpClient[]

  private constructor(url: string, clients: HttpClient[]) {
    this.#url = url
    this.#clients = clients
  }

  static async open(url: string, connections: number): Promise<LoadGenerator> {
    const clients = Array.from({ length: connections }, () => HttpClient.open(url))
    return new LoadGenerator(url, await Promise.all(clients))
  }

  /** Sends a load, and waits for its last answer. */
  async run(options: LoadOptions): Promise<Load> {
    const startedMs = performance.now()
    const answers: MeasuredAnswer[] = []
    const turns = turnsOf(options, startedMs)
    await Promise.all(
      this.#clients.map(async (_, place) => {
        for (let dueMs = await turns(); dueMs !== null; dueMs = await turns()) {
          const answer = await this.#ask(place, options.next(), dueMs)
          answers.push(answer)
          const restMs = options.restMs?.(answer) ?? 0
          if (restMs > 0) await delay(restMs)
        }
      }),
    )
    return new Load(answers, (performance.now() - startedMs) / 1_000)
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }

  /** Asks on a connection; a broken one is an answer with status 0, and is replaced. */
  async #ask(place: number, { path, headers }: LoadRequest, dueMs: number): Promise<MeasuredAnswer> {
    try {
      const answer = await this.#clients[place]!.get(path, headers)
      return { ...answer, ms: performance.now() - dueMs }
    } catch {
      this.#clients[place]!.close()
      this.#clients[place] = await HttpClient.open(this.#url)
      return { status: 0, bytes: 0, ms: performance.now() - dueMs, isRetryNamed: false }
    }
  }
}

/** Gives each connection the time at which its next request is due, once that is there; null when there is none. */
function turnsOf(
  { seconds = Infinity, perSecond, signal }: LoadOptions,
  startedMs: number,
): () => Promise<number | null> {
  const untilMs = startedMs + seconds * 1_000
  const isOver = (ms: number): boolean => ms >= untilMs || signal?.aborted === true
  // Each connection waits with it.
  if (signal !== undefined) setMaxListeners(0, signal)
  let given = 0
  if (perSecond === undefined)
    return () => Promise.resolve(isOver(performance.now()) ? null : performance.now())
  return async () => {
    const dueMs = startedMs + (given++ * 1_000) / perSecond
    if (isOver(dueMs)) return null
    const waitMs = dueMs - performance.now()
    if (waitMs > 0)
      await delay(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
    return isOver(dueMs) ? null : dueMs
  }
}
