/** Load generator of the benchmarks: minimal requests over keep-alive connections. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { HttpClient } from './http-client.ts'
import type { MeasuredAnswer } from './http-client.ts'

/** Path and headers of a request. */
export interface LoadRequest {
  readonly path: string
  /** Header lines, such as `Accept: text/plain`. */
  readonly headers?: readonly string[]
}

export interface LoadOptions {
  readonly next: () => LoadRequest
  /** Time in seconds after which no further request is sent. */
  readonly seconds?: number
  /** After an abort, no further request is sent. */
  readonly signal?: AbortSignal
  /**
   * Open loop: requests a second. A request is sent when it is due, whether or not earlier requests have been answered,
   * and its time counts from when it was due. Undefined means a closed loop: each connection sends a request when its
   * previous request has been answered.
   */
  readonly perSecond?: number
  /** Pause of a connection after an answer, ms. */
  readonly restMs?: (answer: MeasuredAnswer) => number
}

/** The answers to the requests of a load. */
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

  /** Mean size of an answer, bytes. */
  get bytes(): number {
    return this.answers.reduce((sum, { bytes }) => sum + bytes, 0) / this.answers.length
  }

  /** Number of answers whose status is not among the given statuses. */
  failures(...good: readonly number[]): number {
    return this.answers.filter(({ status }) => !good.includes(status)).length
  }

  /** Times of the answers with a status, or of all answers, ms. */
  times(status?: number): number[] {
    return this.answers.flatMap((answer) =>
      status === undefined || answer.status === status ? answer.ms : [],
    )
  }
}

/** Connections to a server that can send several loads in sequence. */
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

  /** Sends a load and waits for its last answer. */
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

  /** Sends a request on a connection. A broken connection is replaced, and its answer has status 0. */
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

/** Creates a function that waits until the next request is due and returns that time; null if the load is over. */
function turnsOf(
  { seconds = Infinity, perSecond, signal }: LoadOptions,
  startedMs: number,
): () => Promise<number | null> {
  const untilMs = startedMs + seconds * 1_000
  const isOver = (ms: number): boolean => ms >= untilMs || signal?.aborted === true
  // Every connection adds a listener to the AbortSignal. Node warns above ten listeners unless the limit is lifted.
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
