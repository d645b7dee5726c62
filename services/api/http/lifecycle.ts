import type { RequestListener } from 'node:http'
import type { Context, Middleware } from 'koa'
import {
  createApplication,
  createClients,
  createCompressionStep,
  createCorsStep,
  createFailureStep,
  createObserverStep,
  createRateLimitStep,
  createRequestCounter,
  notesOf,
} from '../../core/http/index.ts'
import type {
  ClientSettings,
  KnownClient,
  RateLimitSettings,
  RequestObserver,
} from '../../core/http/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { AnswerCache } from '../cache/index.ts'
import { createHeadersStep } from './common-headers.ts'
import { answerFailure } from './failure.ts'
import { createKeptAnswersStep } from './kept-answers.ts'
import { createNamespaceStep } from './namespace-paths.ts'
import { checkPath } from './path-check.ts'
import { createRoutes } from './routes.ts'
import type { RouteParts } from './routes.ts'
import { refuseUnknownPath } from './unknown-path.ts'

/** Settings named like their keys in server.config.json. */
export interface LifecycleSettings extends ClientSettings {
  readonly cors: readonly string[]
  readonly rate_limit?: RateLimitSettings | undefined
}

/** What the lifecycle of a request consists of. */
export interface LifecycleParts extends Omit<RouteParts, 'keeping'> {
  readonly logger: Logger
  /** Told of every request; several are told in their order. */
  readonly observers: readonly RequestObserver[]
  readonly kvstore: KeyValueStore
  readonly settings: LifecycleSettings
  /** Undefined when no answer is kept. */
  readonly cache: AnswerCache | undefined
  /** First characters of the revision that runs, where it is known. */
  readonly revision: string | undefined
}

/** Puts the steps of a request in their order. */
export function createLifecycle(parts: LifecycleParts): RequestListener {
  const clientOf = createClients(parts.settings)
  const keeping = parts.cache ? { cache: parts.cache, clientOf } : undefined
  const steps: Middleware[] = [
    ...parts.observers.map(createObserverStep),
    createHeadersStep(parts.revision),
    createCorsStep(parts.settings.cors),
    createFailureStep((context, error) => {
      answerFailure(context, error, parts.logger)
    }),
    checkPath,
    createNamespaceStep(parts.mounts),
    ...limitSteps(parts, clientOf),
    ...(keeping ? [createKeptAnswersStep(keeping)] : []),
    createCompressionStep(),
    createRoutes({ ...parts, keeping }),
    refuseUnknownPath,
  ]
  return createApplication(steps, parts.logger)
}

/** The paths of the namespaces are limited together, each request once; those of the server itself are not. */
function limitSteps(
  { settings, kvstore, logger }: LifecycleParts,
  clientOf: (context: Context) => KnownClient,
): Middleware[] {
  const limit = settings.rate_limit
  if (!limit) return []
  const counter = createRequestCounter(kvstore, 'rate-limit', limit.interval * 1_000, logger)
  const applies = (context: Context): boolean => notesOf(context).namespace !== undefined
  return [createRateLimitStep({ settings: limit, counter, clientOf, applies })]
}
