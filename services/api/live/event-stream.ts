import type { IncomingMessage, ServerResponse } from 'node:http'
import { JSON_TYPE, RequestError } from '../../core/http/index.ts'
import { onceClosed } from '../../core/http/listener/index.ts'
import type { Headers } from '../../core/http/headers/index.ts'
import type { Channel } from './channel.ts'
import type { Connection } from './client.ts'
import { LiveClient } from './client.ts'
import { FilterError, filterNames, readFilter } from './filter.ts'
import type { FilterName } from './filter.ts'
import type { LiveLimits } from './limits.ts'
import type { LiveObserver } from './observer.ts'
import type { LiveErrorCode } from './outgoing.ts'
import { message } from './outgoing.ts'
import type { Subscribing } from './plain-session.ts'
import { DEFAULT_SUBSCRIPTION } from './plain-session.ts'
import { whenDrained } from './websocket-connection.ts'

/** Clients reconnect after this time, ms. */
const RETRY_MS = 3_000
/** Time for a client to read the reason before it is disconnected, ms. */
const LAST_WORDS_MS = 3_000

/** Dependencies of the event streams. */
export interface EventStreamOptions {
  readonly limits: LiveLimits
  readonly observer: LiveObserver
  readonly subscribing: Subscribing
  /** Longest silence before a comment is sent, so that proxies do not close the connection, ms. */
  readonly heartbeatMs: number
}

/** The event streams of all namespaces. */
export class EventStreams {
  readonly #options: EventStreamOptions
  readonly #open = new Map<ServerResponse, LiveClient>()
  readonly #pulse: NodeJS.Timeout

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.#pulse = setInterval(() => this.#beat(), options.heartbeatMs)
    this.#pulse.unref()
  }

  /**
   * Serves a request that has been admitted.
   * @param address under which the client's connections are counted.
   * @param onClose called once when it is closed.
   * @throws RequestError 400 for a filter that nothing can match.
   */
  accept(
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
    headers: Headers,
    channel: Channel,
    address: string,
    onClose: () => void,
  ): void {
    const { limits, observer, subscribing } = this.#options
    const filters = filtersOf(query)
    const client = new LiveClient(new StreamConnection(response), address)
    try {
      const { family } = channel.mount
      client.subscribe(DEFAULT_SUBSCRIPTION, readFilter(family, filters, limits.values_per_subscription))
    } catch (error) {
      if (error instanceof FilterError) throw new RequestError(400, error.message)
      throw error
    }
    onceClosed({ req: request, res: response }, () => {
      this.#open.delete(response)
      channel.remove(client)
      client.leave()
      observer.disconnected('event-stream')
      onClose()
    })
    observer.connected('event-stream')
    this.#open.set(response, client)
    response.writeHead(200, {
      ...headers,
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // Proxies would hold events back until a buffer is full.
      'X-Accel-Buffering': 'no',
    })
    response.write(`retry: ${RETRY_MS}\n\n`)
    // A browser that reconnects sends the id of its last message, which is newer than the cursor in the URL.
    const cursor = lastEventId(request) ?? query.get('cursor') ?? undefined
    channel.add(client)
    const begin = (position: string | undefined): void => {
      client.send(message('subscribed', { id: DEFAULT_SUBSCRIPTION, filters }, position))
    }
    if (cursor !== undefined) {
      subscribing.resume(channel, client, cursor, begin)
      return
    }
    begin(subscribing.position(channel))
    client.state = 'live'
  }

  /** Ends every stream. */
  close(reason: string): void {
    clearInterval(this.#pulse)
    for (const client of this.#open.values()) client.dismiss('STOPPING', reason)
  }

  #beat(): void {
    for (const [response, client] of this.#open) {
      // A client that reads nothing needs nothing more.
      if (client.connection.isOpen && response.writableLength === 0) response.write(': \n\n')
    }
  }
}

class StreamConnection implements Connection {
  readonly transport = 'event-stream'
  readonly format = 'event-stream'
  readonly #response: ServerResponse
  #isEnding = false

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get isOpen(): boolean {
    return !this.#isEnding && !this.#response.destroyed
  }

  get waitingBytes(): number {
    return this.#response.writableLength
  }

  write(bytes: Buffer): void {
    this.#response.write(bytes)
  }

  drained(): Promise<void> {
    return whenDrained(this.#response)
  }

  end(_code: LiveErrorCode, _reason: string): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#response.end()
    setTimeout(() => this.#response.destroy(), LAST_WORDS_MS).unref()
  }
}

/** `events=a,b&collections=c`; a name may come several times. */
function filtersOf(query: URLSearchParams): Partial<Record<FilterName, string[]>> {
  const filters: Partial<Record<FilterName, string[]>> = {}
  for (const name of filterNames) {
    const values = query.getAll(name).flatMap((text) => text.split(','))
    if (values.some((text) => text !== '')) filters[name] = values.filter((text) => text !== '')
  }
  return filters
}

function lastEventId({ headers }: IncomingMessage): string | undefined {
  const found = headers['last-event-id']
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** Answers with a failure envelope, for requests that become no stream. */
export function answerPlainly(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Headers,
): void {
  response.writeHead(status, {
    ...headers,
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}
