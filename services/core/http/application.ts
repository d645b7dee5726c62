import Koa from 'koa'
import type { Middleware } from 'koa'
import type { RequestListener } from 'node:http'
import { describeError } from '../errors/index.ts'
import type { Logger } from '../log/index.ts'

/**
 * Creates the request handler from its middleware, outermost first. One middleware must answer the errors of the inner
 * middleware (`createFailureStep`), and the innermost middleware must answer every request that reaches it.
 */
export function createApplication(steps: readonly Middleware[], logger: Logger): RequestListener {
  const application = new Koa()
  // `createFailureStep` answers all errors of requests, so Koa's 'error' only reports clients that disconnected early.
  application.on('error', (error: unknown) => {
    logger.debug(`an answer could not be delivered: ${describeError(error)}`)
  })
  for (const step of steps) application.use(step)
  const handle = application.callback()
  return (request, response) => {
    void handle(request, response)
  }
}
