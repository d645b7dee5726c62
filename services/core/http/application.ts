import Koa from 'koa'
import type { Middleware } from 'koa'
import type { RequestListener } from 'node:http'
import { describeError } from '../errors/index.ts'
import type { Logger } from '../log/index.ts'

/**
 * The lifecycle of a request: the steps in their order, the outermost first. One of them has to answer what the others
 * throw (`createFailureStep`), and the last has to answer what none of them did.
 */
export function createApplication(steps: readonly Middleware[], logger: Logger): RequestListener {
  const application = new Koa()
  // Failures end in their step, so this is called only for clients that left while they were being answered.
  application.on('error', (error: unknown) => {
    logger.debug(`answer not delivered: ${describeError(error)}`)
  })
  for (const step of steps) application.use(step)
  const handle = application.callback()
  return (request, response) => {
    void handle(request, response)
  }
}
