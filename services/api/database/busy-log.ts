import type { Logger } from '../../core/log/index.ts'

const INTERVAL_MS = 60_000
/** Maximum number of distinct clients whose refused requests are counted until the next log line; limits the memory. */
const MAX_CLIENTS = 10_000

/** State of the queue for database connections. Logged with the number of refused requests. */
export interface BusyLoad {
  readonly running: number
  readonly waiting: number
  readonly limit: number
}

/** Logs refused requests: the first refusal at once, the number of further refusals once a minute. */
export class BusyLog {
  readonly #logger: Logger
  readonly #load: () => BusyLoad
  #timer: NodeJS.Timeout | undefined
  #count = 0
  readonly #byClient = new Map<string, number>()

  constructor(logger: Logger, load: () => BusyLoad) {
    this.#logger = logger
    this.#load = load
  }

  note(client: string): void {
    this.#count++
    const own = this.#byClient.get(client)
    if (own !== undefined || this.#byClient.size < MAX_CLIENTS) this.#byClient.set(client, (own ?? 0) + 1)
    if (this.#timer) return
    this.#write()
    this.#timer = setInterval(() => {
      if (this.#count > 0) this.#write()
      else this.close()
    }, INTERVAL_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #write(): void {
    const refused = this.#count
    const clients = this.#byClient.size
    let [worst, most] = ['', 0]
    for (const [client, count] of this.#byClient) if (count > most) [worst, most] = [client, count]
    this.#count = 0
    this.#byClient.clear()
    const who = `${clients} ${clients === 1 ? 'client' : 'clients'}, ${most} of the requests from ${worst === '' ? 'the server itself' : worst}`
    this.#logger.warn(
      { refused, clients, ...this.#load() },
      `busy: since the previous log line of this kind, ${refused} requests were refused with status 503, from ${who}`,
    )
  }
}
