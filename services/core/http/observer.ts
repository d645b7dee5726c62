import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from 'koa'
import { onceClosed } from './listener/index.ts'
import { notesOf } from './notes.ts'
import type { RequestNotes } from './notes.ts'

type NotedFacts = Omit<RequestNotes, 'bytes'>

/** Facts about a request after its response was sent or its client disconnected. */
export interface RequestFacts extends Readonly<NotedFacts> {
  readonly method: string
  readonly status: number
  /** Bytes of the body as sent, after compression. */
  readonly bytes: number
  /** Time from the end of the request headers to the last byte of the response, in ms. */
  readonly durationMs: number
  /** Whether the response was sent completely; false if the client disconnected first. */
  readonly isDelivered: boolean
}

/** Receives the start and end of each request. No method may throw. */
export interface RequestObserver {
  requestStarted(): void
  requestEnded(facts: RequestFacts): void
}

/** Outermost middleware: reports to the observer every request that reaches the application. */
export function createObserverStep(observer: RequestObserver): Middleware {
  return (context, next) => {
    const { req, res } = context
    observeRequest(observer, { req, res }, () => {
      const { route, namespace, cache, bytes } = notesOf(context)
      return { route, namespace, cache, bytes: bytes ?? sentBytes(context.method, res) }
    })
    return next()
  }
}

/** Reports to the observer the start of a request at once, and the end of the request after the response. */
export function observeRequest(
  observer: RequestObserver,
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  facts: () => Pick<RequestFacts, 'bytes' | keyof NotedFacts>,
  startedMs = performance.now(),
): void {
  const method = req.method ?? ''
  observer.requestStarted()
  // 'close' follows 'finish'; if the client disconnected, only 'close' is emitted.
  onceClosed({ req, res }, () => {
    const { route, namespace, cache, bytes } = facts()
    observer.requestEnded({
      route,
      namespace,
      cache,
      bytes,
      method,
      status: res.statusCode,
      durationMs: performance.now() - startedMs,
      isDelivered: res.writableFinished,
    })
  })
}

function sentBytes(method: string, response: ServerResponse): number {
  if (method === 'HEAD' || response.statusCode === 304) return 0
  return Number(response.getHeader('content-length') ?? 0)
}
