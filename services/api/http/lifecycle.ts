import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import {
  createApplication,
  createCorsStep,
  createFailureStep,
  createObserverStep,
} from '../../core/http/index.ts'
import type { RequestObserver } from '../../core/http/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { createHeadersStep } from './common-headers.ts'
import { answerFailure } from './failure.ts'
import { checkPath } from './path-check.ts'
import { createRoutes } from './routes.ts'
import type { RouteParts } from './routes.ts'
import { refuseUnknownPath } from './unknown-path.ts'

/** What the lifecycle of a request consists of. */
export interface LifecycleParts extends RouteParts {
  readonly logger: Logger
  /** Told of every request; several are told in their order. */
  readonly observers: readonly RequestObserver[]
  /** Patterns of `cors`; none = every origin. */
  readonly origins: readonly string[]
  /** First characters of the revision that runs, where it is known. */
  readonly revision: string | undefined
}

/** Puts the steps of a request in their order. */
export function createLifecycle(parts: LifecycleParts): RequestListener {
  const steps: Middleware[] = [
    ...parts.observers.map(createObserverStep),
    createHeadersStep(parts.revision),
    createCorsStep(parts.origins),
    createFailureStep((context, error) => {
      answerFailure(context, error, parts.logger)
    }),
    checkPath,
    createRoutes(parts),
    refuseUnknownPath,
  ]
  return createApplication(steps, parts.logger)
}
