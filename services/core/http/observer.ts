import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from 'koa'
import { onceClosed } from './listener/index.ts'
import { notesOf } from './notes.ts'
import type { RequestNotes } from './notes.ts'

type NotedFacts = Omit<RequestNotes, 'bytes'>

/** A request whose answer has left, or whose client has. */
export interface RequestFacts extends Readonly<NotedFacts> {
  readonly method: string
  readonly status: number
  /** Bytes of the body as they were sent, compressed where it was. */
  readonly bytes: number
  /** From the end of its headers to the last byte of the answer. */
  readonly durationMs: number
  /** False when the client left before the answer was complete. */
  readonly isDelivered: boolean
}

/** Counts requests. No method may throw. */
export interface RequestObserver {
  requestStarted(): void
  requestEnded(facts: RequestFacts): void
}

/** The outermost step: reports to the observer every request that reaches the application. */
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

/** Reports a request to the observer now, and again when it has been answered. */
export function observeRequest(
  observer: RequestObserver,
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  facts: () => Pick<RequestFacts, 'bytes' | keyof NotedFacts>,
  startedMs = performance.now(),
): void {
  const method = req.method ?? ''
  observer.requestStarted()
  // 'close' follows 'finish', and comes alone when the client left.
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
