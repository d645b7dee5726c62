import type { Context, Middleware } from 'koa'
import { hasBody, notesOf } from '../../core/http/index.ts'
import type { KnownClient } from '../../core/http/index.ts'
import type { AnswerCache } from '../cache/index.ts'

/** The cache, and who may be answered from it. */
export interface AnswerKeeping {
  readonly cache: AnswerCache
  readonly clientOf: (context: Context) => KnownClient
}

/** Whether a request may be answered from the cache and its answer kept. */
export function mayUseCache(context: Context, { clientOf }: AnswerKeeping): boolean {
  return (context.method === 'GET' || context.method === 'HEAD') && !clientOf(context).isExempt
}

/** The address of a request as it was spelled, where that says everything that was asked. */
export function spelledAddress(context: Context): string | undefined {
  return hasBody(context.req) ? undefined : context.url
}

/** Answers at once what was asked in the very same words before: without a route, parameters or the database. */
export function createKeptAnswersStep(keeping: AnswerKeeping): Middleware {
  return (context, next) => {
    const address = mayUseCache(context, keeping) ? spelledAddress(context) : undefined
    const kept = address === undefined ? undefined : keeping.cache.findByAddress(address)
    if (!kept) return next()
    const notes = notesOf(context)
    notes.route = kept.route
    notes.namespace = kept.namespace
    notes.cache = 'hit'
    return kept.answer.send(context)
  }
}
