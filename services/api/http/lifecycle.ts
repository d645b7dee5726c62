import type { RequestListener } from 'node:http'
import type { Context, Middleware } from 'koa'
import { createApplication, createFailureStep, createObserverStep, notesOf } from '../../core/http/index.ts'
import { createCompressionStep } from '../../core/http/content/index.ts'
import { createCorsHeaders, createCorsStep } from '../../core/http/headers/index.ts'
import {
  createRateLimitStep,
  createRequestCounter,
  createRequestLimit,
} from '../../core/http/limits/index.ts'
import type { ClientSettings, RateLimitSettings, RequestLimit } from '../../core/http/limits/index.ts'
import type { RequestObserver } from '../../core/http/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { AnswerCache } from '../cache/index.ts'
import { createCommonHeaders, createHeadersStep } from './common-headers.ts'
import { answerFailure } from './failure.ts'
import { answerFromCache } from './cached-answers.ts'
import { createNamespaceStep } from './namespace-paths.ts'
import { checkPath } from './path-check.ts'
import { createMethodsOf, createRoutes } from './routes.ts'
import type { RouteParts } from './routes.ts'
import { refuseUnknownPath } from './unknown-path.ts'

/** Settings named like their keys in server.config.json. */
export interface LifecycleSettings extends ClientSettings {
  readonly cors: readonly string[]
  readonly rate_limit?: RateLimitSettings | undefined
}

/** Dependencies of the request lifecycle. */
export interface LifecycleParts extends Omit<RouteParts, 'caching'> {
  readonly logger: Logger
  /** Observers of every request, called in this order. */
  readonly observers: readonly RequestObserver[]
  readonly kvstore: KeyValueStore
  readonly settings: LifecycleSettings
  /** Cache of answers; undefined if `cache_life` is not set. */
  readonly cache: AnswerCache | undefined
  /** First characters of the running source revision, if known. */
  readonly revision: string | undefined
}

/** Builds the request handler: all steps of a request, in order. */
export function createLifecycle(parts: LifecycleParts): RequestListener {
  const { settings, logger, observers, cache } = parts
  const { clientOf } = parts
  const limit = createLimit(parts)
  const commonHeaders = createCommonHeaders(parts.revision)
  const caching = cache ? { cache, clientOf } : undefined
  const limitedPaths = new Set(parts.roots.flatMap(({ isLimited, paths }) => (isLimited ? paths : [])))
  const applies = (context: Context): boolean =>
    notesOf(context).namespace !== undefined || limitedPaths.has(normalPath(context.path))
  const steps: Middleware[] = [
    ...observers.map(createObserverStep),
    createHeadersStep(commonHeaders),
    createCorsStep(settings.cors, createMethodsOf(parts.mounts)),
    createFailureStep((context, error) => {
      answerFailure(context, error, logger)
    }),
    checkPath,
    createNamespaceStep(parts.mounts),
    ...(limit ? [createRateLimitStep({ limit, clientOf, applies })] : []),
    createCompressionStep(),
    createRoutes({ ...parts, caching }),
    refuseUnknownPath,
  ]
  const application = createApplication(steps, logger)
  const corsHeaders = createCorsHeaders(settings.cors)
  return cache
    ? answerFromCache(
        { clientOf, cache, observers, commonHeaders, corsHeaders, limit, answers: parts.answers },
        application,
      )
    : application
}

/** A path as routes match it: lower case, without a trailing slash. */
function normalPath(path: string): string {
  return (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase()
}

/**
 * Request limit of the namespaces and the documentation together. Each request counts once; other paths are not
 * limited.
 */
function createLimit({ settings, kvstore, logger }: LifecycleParts): RequestLimit | undefined {
  const limit = settings.rate_limit
  if (!limit) return undefined
  return createRequestLimit(
    limit,
    createRequestCounter(kvstore, 'rate-limit', limit.interval * 1_000, logger),
  )
}
