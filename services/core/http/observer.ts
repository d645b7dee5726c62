import type { Middleware } from 'koa'
import { notesOf } from './notes.ts'
import type { RequestNotes } from './notes.ts'

/** A request whose answer has left, or whose client has. */
export interface RequestFacts extends Readonly<RequestNotes> {
  readonly method: string
  readonly status: number
  /** Bytes of the body as they were sent, compressed where it was; 0 when their number was not told beforehand. */
  readonly bytes: number
  /** From the moment its headers had been read to the last byte of the answer. */
  readonly durationMs: number
  /** False when the client went away before the answer was complete. */
  readonly isDelivered: boolean
}

/** Whoever counts requests. Neither method may throw. */
export interface RequestObserver {
  requestStarted(): void
  requestEnded(facts: RequestFacts): void
}

/** The outermost step: tells the observer of every request that reaches the application. */
export function createObserverStep(observer: RequestObserver): Middleware {
  return (context, next) => {
    const startedMs = performance.now()
    const { res } = context
    observer.requestStarted()
    // 'close' follows 'finish', and comes alone when the client went away.
    res.once('close', () => {
      observer.requestEnded({
        ...notesOf(context),
        method: context.method,
        status: res.statusCode,
        bytes: sentBytes(context.method, res.statusCode, res.getHeader('content-length')),
        durationMs: performance.now() - startedMs,
        isDelivered: res.writableFinished,
      })
    })
    return next()
  }
}

function sentBytes(method: string, status: number, length: number | string | string[] | undefined): number {
  return method === 'HEAD' || status === 304 ? 0 : Number(length ?? 0)
}
