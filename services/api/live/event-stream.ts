import { shownName } from '../../core/http/headers/index.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { JSON_TYPE, RequestError } from '../../core/http/index.ts'
import { onceClosed } from '../../core/http/listener/index.ts'
import type { Headers } from '../../core/http/headers/index.ts'
import type { Channel } from './channel.ts'
import type { Connection } from './client.ts'
import { LiveClient } from './client.ts'
import { FilterError, filterNames, readFilter } from './filter.ts'
import type { Filter, FilterName } from './filter.ts'
import { FilterIndex } from './filter-index.ts'
import type { LiveLimits } from './limits.ts'
import type { LiveObserver } from './observer.ts'
import type { LiveErrorCode } from './outgoing.ts'
import type { Subscribing } from './plain-session.ts'
import { DEFAULT_SUBSCRIPTION } from './plain-session.ts'
import { whenDrained } from './websocket-connection.ts'

/** Wait before a client reconnects, ms. Event streams send this value to their clients. */
const RETRY_MS = 3_000
/** A client that was sent an error is disconnected after this time, ms, if it does not read the message. */
const LAST_WORDS_MS = 3_000

export interface EventStreamOptions {
  readonly limits: LiveLimits
  readonly observer: LiveObserver
  readonly subscribing: Subscribing
  /** Maximum time without a message before a comment line is sent, ms. Proxies close connections without traffic. */
  readonly heartbeatMs: number
}

/** A request for an event stream. */
export interface StreamRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
  /** Headers of the event stream's response, such as CORS headers. */
  readonly headers: Headers
  readonly channel: Channel
  /** IPv4 address or IPv6 network by which the connections of the client are counted. */
  readonly address: string
  /** Called once when the stream is closed. */
  readonly onClose: () => void
}

/** The event streams (server-sent events) of all namespaces. */
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
   * Serves a request for an event stream that `Doorkeeper` has admitted.
   * @throws RequestError 400 for an unknown parameter or for a filter that no event can match, 429 for filters above
   * the budget.
   */
  accept({ request, response, query, headers, channel, address, onClose }: StreamRequest): void {
    const { observer, subscribing } = this.#options
    const filters = filtersOf(query)
    const client = new LiveClient(new StreamConnection(response), address)
    const filter = this.#readFilter(channel, filters)
    const bytes = FilterIndex.bytesOf(filter)
    const refusal = subscribing.reserve(client, bytes)
    if (refusal !== undefined) throw new RequestError(429, refusal, { 'Retry-After': '5' })
    onceClosed({ req: request, res: response }, () => {
      this.#open.delete(response)
      subscribing.leave(channel, client)
      observer.disconnected('event-stream')
      onClose()
    })
    observer.connected('event-stream')
    this.#open.set(response, client)
    response.writeHead(200, {
      ...headers,
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // nginx does not buffer a response with `X-Accel-Buffering: no`. Otherwise events would wait until a buffer is
      // full.
      'X-Accel-Buffering': 'no',
    })
    response.write(`retry: ${RETRY_MS}\n\n`)
    // A browser that reconnects sends the id of the last message that it received. This id is newer than the cursor in
    // the URL.
    const cursor = lastEventId(request) ?? query.get('cursor') ?? undefined
    channel.add(client)
    subscribing.subscribe(channel, client, { id: DEFAULT_SUBSCRIPTION, filter, filters, bytes, cursor })
  }

  #readFilter(channel: Channel, filters: Partial<Record<FilterName, string[]>>): Filter {
    try {
      return readFilter(channel.mount.family, filters, this.#options.limits.values_per_subscription)
    } catch (error) {
      if (error instanceof FilterError) throw new RequestError(400, error.message)
      throw error
    }
  }

  /** Ends every event stream. */
  close(reason: string): void {
    clearInterval(this.#pulse)
    for (const client of this.#open.values()) client.dismiss('STOPPING', reason)
  }

  #beat(): void {
    for (const [response, client] of this.#open) {
      // Skip clients with unread bytes: more bytes would only add to the buffer.
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
    setTimeout(() => {
      // A stream that waits behind an unfinished response of the connection has no socket of its own.
      if (!this.#response.writableFinished) this.#response.req.socket.destroy()
    }, LAST_WORDS_MS).unref()
  }
}

/**
 * Parses the query `events=a,b&collections=c`. A parameter may occur several times.
 * @throws RequestError 400 for an unknown parameter. If a misspelt filter were ignored, the client would get events
 * that it does not want.
 */
function filtersOf(query: URLSearchParams): Partial<Record<FilterName, string[]>> {
  const known: readonly string[] = ['cursor', ...filterNames]
  for (const name of query.keys()) {
    if (known.includes(name)) continue
    const shown = JSON.stringify(shownName(name))
    throw new RequestError(
      400,
      `an event stream has no parameter ${shown}; its parameters are ${known.join(', ')}`,
    )
  }
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

/** Answers a refused request for live data with status and JSON body. */
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
