import Koa from 'koa'
import type { Context, Middleware } from 'koa'
import { describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { RequestError } from '../endpoint/index.ts'
import { failureBody } from './envelope.ts'
import { failureOf } from './failure.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const METHODS = 'GET,HEAD,PUT,PATCH,POST,DELETE'

/** Sends JSON text. */
export function sendJson(context: Context, status: number, text: string): void {
  context.status = status
  context.set('Content-Type', JSON_TYPE)
  context.body = Buffer.from(text, 'utf8')
}

/**
 * The request lifecycle around the routes, in this order: headers of every answer, failures to envelopes, OPTIONS,
 * a path that cannot be decoded, the routes, 404.
 */
export function createApplication(routes: Middleware, logger: Logger): Koa {
  const application = new Koa()
  // Failures below end here, so this hears only of clients that went away while they were being answered.
  application.on('error', (error: unknown) => {
    logger.debug(`answer not delivered: ${describeError(error)}`)
  })
  application.use(setCommonHeaders)
  application.use(createFailureStep(logger))
  application.use(answerOptions)
  application.use(checkPath)
  application.use(routes)
  application.use(refuseUnknownPath)
  return application
}

async function setCommonHeaders(context: Context, next: () => Promise<void>): Promise<void> {
  context.set('Access-Control-Allow-Origin', '*')
  context.set('Access-Control-Allow-Headers', '*')
  // The moment of the answer, as clients know it; it says nothing about the age of the data.
  context.set('Last-Modified', new Date().toUTCString())
  await next()
}

function createFailureStep(logger: Logger): Middleware {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      const failure = failureOf(error, logger)
      context.set(failure.headers)
      sendJson(context, failure.status, failureBody(failure.message))
    }
  }
}

async function answerOptions(context: Context, next: () => Promise<void>): Promise<void> {
  if (context.method !== 'OPTIONS') return next()
  context.status = 204
  context.set('Access-Control-Allow-Methods', METHODS)
  context.set('Content-Length', '0')
}

async function checkPath(context: Context, next: () => Promise<void>): Promise<void> {
  try {
    decodeURIComponent(context.path)
  } catch {
    throw new RequestError(400, 'The path has a malformed percent escape')
  }
  await next()
}

function refuseUnknownPath(): never {
  throw new RequestError(404, 'Endpoint not found')
}
