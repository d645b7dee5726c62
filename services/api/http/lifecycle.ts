import type { RequestListener } from 'node:http'
import type { Context, Middleware } from 'koa'
import {
  createApplication,
  createFailureStep,
  createObserverStep,
  observeRequest,
  notesOf,
  RequestError,
} from '../../core/http/index.ts'
import { createCompressionStep } from '../../core/http/content/index.ts'
import { createCorsHeaders, createCorsStep, httpDate, setHeaders } from '../../core/http/headers/index.ts'
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
import { answerFailure, busyFailure } from './failure.ts'
import { answerFromCache } from './cached-answers.ts'
import { refuse } from './early-answers.ts'
import type { EarlyParts } from './early-answers.ts'
import { spelledAddress } from './endpoint-answers.ts'
import { createMethodsOf, createRoutes, longRoutes, normalPath } from './routes.ts'
import type { RouteParts, Mount } from './routes.ts'
import type { Headers } from '../../core/http/headers/index.ts'

/** Settings of the request lifecycle. The members have the names of the keys in server.config.json. */
export interface LifecycleSettings extends ClientSettings {
  readonly cors: readonly string[]
  readonly rate_limit?: RateLimitSettings | undefined
}

/** Dependencies of the request lifecycle. */
export interface LifecycleParts extends Omit<RouteParts, 'caching'> {
  readonly logger: Logger
  /** Observers of every request, in the order of their calls. */
  readonly observers: readonly RequestObserver[]
  readonly kvstore: KeyValueStore
  readonly settings: LifecycleSettings
  /** Cache of answers; undefined if `cache_life` is not set. */
  readonly cache: AnswerCache | undefined
  /** First characters of the running source revision, if the revision is known. */
  readonly revision: string | undefined
}

/** Creates the request handler from the steps of a request, in order. */
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
  const early = { clientOf, observers, commonHeaders, corsHeaders: createCorsHeaders(settings.cors) }
  const { database, mounts, answers } = parts
  const handler = refuseEarly({ ...early, database, mounts }, createApplication(steps, logger))
  return cache ? answerFromCache({ ...early, cache, limit, answers }, handler) : handler
}

/**
 * Refuses list requests of a client before the request lifecycle, while the queue for database connections is full and
 * the client has the most waiting requests. The queue would refuse these requests anyway. A refusal by the lifecycle
 * takes several times as long. The queue decides when a refusal is sent.
 *
 * Measured 2026-11-30, `bench/sustained`, two processors: requests arrive at three times the rate that the API can
 * serve, 80 % of them from one client over 300 connections. The p50 of the other clients is 428 ms if the lifecycle
 * refuses, 13 to 24 ms if this function refuses at once, and 6 to 7 ms if the refusals are also delayed.
 */
function refuseEarly(
  parts: EarlyParts & Pick<LifecycleParts, 'database' | 'mounts'>,
  lifecycle: RequestListener,
): RequestListener {
  const routes = longRoutes(parts.mounts)
  return (req, res) => {
    const startedMs = performance.now()
    const address = spelledAddress(req)
    const found = address === undefined ? undefined : routes.get(normalPath(pathOf(address)))
    const refusal = found && parts.database.turnAway(parts.clientOf({ req }).key)
    if (!refusal) {
      lifecycle(req, res)
      return
    }
    const sent = { bytes: 0 }
    for (const observer of parts.observers)
      observeRequest(observer, { req, res }, () => ({ ...found, cache: 'bypass', ...sent }), startedMs)
    void refusal.then(() => {
      if (!res.destroyed) sent.bytes = refuse(parts, { req, res }, busyFailure)
    })
  }
}

function pathOf(address: string): string {
  const end = address.indexOf('?')
  return end < 0 ? address : address.slice(0, end)
}

/**
 * Creates the request limit, which the namespaces and the documentation share. Each request counts once; requests for
 * other paths are not limited.
 */
function createLimit({ settings, kvstore, logger }: LifecycleParts): RequestLimit | undefined {
  const limit = settings.rate_limit
  if (!limit) return undefined
  return createRequestLimit(
    limit,
    createRequestCounter(kvstore, 'rate-limit', limit.interval * 1_000, logger),
  )
}

/** Creates the headers of every response: `Last-Modified`, and `X-Revision` if the revision is known. */
function createCommonHeaders(revision: string | undefined): () => Headers {
  // `Last-Modified` is the time of the response, because clients expect this header. The header does not show the age
  // of the data.
  if (revision === undefined) return () => ({ 'Last-Modified': httpDate() })
  return () => ({ 'Last-Modified': httpDate(), 'X-Revision': revision })
}

/** Creates the step that sets the headers of every response. */
function createHeadersStep(headers: () => Headers): Middleware {
  return (context, next) => {
    setHeaders(context.res, headers())
    return next()
  }
}

/** Step of the request lifecycle that refuses paths with malformed percent escapes. */
function checkPath(context: Context, next: () => Promise<void>): Promise<void> {
  try {
    if (context.path.includes('%')) decodeURIComponent(context.path)
  } catch {
    throw new RequestError(400, 'The path has a malformed percent escape: write % as %25')
  }
  return next()
}

/**
 * Creates the step that notes the namespace of a request, for limits and metrics. Requests that match no route also get
 * a namespace by their path.
 */
function createNamespaceStep(mounts: readonly Mount[]): Middleware {
  const prefixes = mounts
    .flatMap(({ namespace, paths }) =>
      paths.map((path) => ({ path: path.toLowerCase(), name: namespace.name })),
    )
    // If one path is a prefix of another, the longer path is used.
    .sort((one, other) => other.path.length - one.path.length)
  return (context, next) => {
    const path = context.path.toLowerCase()
    const mount = prefixes.find((each) => isUnder(path, each.path))
    if (mount) notesOf(context).namespace = mount.name
    return next()
  }
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')
}

/**
 * Link to the documentation, for responses to unknown paths. The link is in a header and not in the message, because
 * clients expect the message of the replaced system.
 */
const documentation = { Link: '</docs>; rel="service-doc"' }

/** Last step of a request: no route has matched the path. */
export function refuseUnknownPath(): never {
  throw new RequestError(404, 'Endpoint not found', documentation)
}
