import { Router } from '@koa/router'
import type { RouterContext } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { notesOf, RequestError } from '../../core/http/index.ts'
import type { Endpoint, Failure, Namespace, RecordSchema } from '../endpoint/index.ts'
import { createEndpointAnswer } from './endpoint-answers.ts'
import type { AnswerParts } from './endpoint-answers.ts'

/** A namespace and its paths. */
export interface Mount {
  readonly namespace: Namespace
  /** Path prefixes without a trailing slash, for example `/assets` and `/atomicassets`. */
  readonly paths: readonly string[]
}

/** Description of a route outside the namespaces, for the OpenAPI document. */
export interface RouteDocumentation {
  readonly summary: string
  /** Schema of `data` in the envelope. If undefined, the response is text. */
  readonly record?: RecordSchema
  /** Failures whose body has the same schema as the successful response. */
  readonly failures?: readonly Failure[]
  /** Description of the response 400 to a request with a wrong parameter. */
  readonly refusal?: string
}

/** A route outside the namespaces, for GET and HEAD. */
export interface RootRoute {
  readonly paths: readonly string[]
  /**
   * Description of the route in the OpenAPI document, under its first path. If undefined, the document omits the route.
   */
  readonly documentation?: RouteDocumentation
  /** Whether the request limit of the namespaces also applies to the route. */
  readonly isLimited?: true
  readonly answer: (context: Context) => Promise<void> | void
}

/** Dependencies of the HTTP routes. */
export interface RouteParts extends AnswerParts {
  readonly roots: readonly RootRoute[]
  readonly mounts: readonly Mount[]
}

/** Documentation paths of the replaced system below each namespace. Redirected to the documentation of the server. */
const docsAliases = ['/docs', '/docs/swagger']
const DOCS_PATH = '/docs'

/** Methods of an endpoint that allows more than GET and HEAD. */
const answeredMethods = ['HEAD', 'GET', 'POST']
/** Methods that write. All are refused, because the API is read-only. */
const refusedMethods = ['DELETE', 'PATCH', 'PUT']

function refuseMethod(allowed: string): (context: Context) => never {
  return ({ method }) => {
    throw new RequestError(405, `Method ${method} not allowed: send ${allowed}`, { Allow: allowed })
  }
}

/** Creates the routes of all namespaces. Literal segments match in any letter case; a trailing slash is optional. */
export function createRoutes(parts: RouteParts): Middleware {
  const roots = new Router()
  const groups = new RouteGroups()
  for (const { paths, answer } of parts.roots) {
    for (const path of paths) {
      roots.get(path, (context) => {
        notesOf(context).route = path
        return answer(context)
      })
      roots.register(path, refusedMethods, refuseMethod('GET, HEAD, OPTIONS'))
    }
  }
  for (const { namespace, paths } of parts.mounts) {
    for (const path of paths) for (const alias of docsAliases) roots.all(path + alias, redirectToDocs)
    for (const endpoint of namespace.endpoints) {
      for (const path of paths) {
        const pattern = path + endpoint.path
        const place = `${paths[0]!}${endpoint.path}`
        const { name } = namespace
        const isBrief = findsByKey(endpoint, namespace)
        const answer = createEndpointAnswer({ pattern, namespace: name, place, endpoint, isBrief }, parts)
        const router = groups.routerFor(path, endpoint.path)
        // Other methods of an endpoint that allows only GET and HEAD get 404, as from the replaced system.
        if (endpoint.method === 'get') router.get(pattern, answer)
        else {
          router.register(pattern, answeredMethods, answer)
          router.register(pattern, refusedMethods, refuseMethod('GET, HEAD, POST, OPTIONS'))
        }
      }
    }
  }
  return groups.middleware(roots.routes() as unknown as Middleware)
}

/** Normalises a path as routes match it: lower case, without a trailing slash. */
export function normalPath(path: string): string {
  return (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase()
}

/**
 * Maps normalised paths to route and namespace, for endpoints without path parameters whose work is long (not brief).
 */
export function longRoutes(
  mounts: readonly Mount[],
): ReadonlyMap<string, { readonly route: string; readonly namespace: string }> {
  return new Map(
    mounts.flatMap(({ namespace, paths }) =>
      namespace.endpoints
        .filter((endpoint) => !endpoint.path.includes(':') && !findsByKey(endpoint, namespace))
        .flatMap((endpoint) => paths.map((path) => path + endpoint.path))
        .map((route) => [normalPath(route), { route, namespace: namespace.name }] as const),
    ),
  )
}

/**
 * Creates a function that returns the methods of a path: GET and HEAD, and POST if an endpoint of the path accepts
 * POST.
 */
export function createMethodsOf(mounts: readonly Mount[]): (path: string) => readonly string[] {
  const posted = new Router()
  for (const { namespace, paths } of mounts) {
    for (const endpoint of namespace.endpoints) {
      if (endpoint.method === 'get') continue
      for (const path of paths) posted.post(path + endpoint.path, () => undefined)
    }
  }
  const takesPost = (path: string): boolean => posted.match(path, 'POST').pathAndMethod.length > 0
  return (path) => (takesPost(path) ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'])
}

/**
 * Whether an endpoint returns a single record: the record whose key is in the path, or the only record of an endpoint
 * that has no parameters (such as `/v1/config`).
 */
function findsByKey({ parameters, record }: Endpoint, { records }: Namespace): boolean {
  const all = Object.values(parameters)
  if (all.length === 0) return record.type !== 'array'
  const isRecord = Object.values(records).some(({ schema }) => schema.title === record.title)
  return isRecord && all.every((parameter) => parameter.in === 'path')
}

/**
 * Number of leading path segments below the namespace, such as `/v1/assets`, that identify the group of an endpoint.
 * None of these segments is a parameter.
 */
const GROUP_SEGMENTS = 2

/** Routers by leading path segments. A single router would try hundreds of routes in sequence. */
class RouteGroups {
  readonly #routers = new Map<string, Router>()
  /**
   * Numbers of leading segments by which routes are grouped: the segments of a namespace's path plus GROUP_SEGMENTS.
   */
  readonly #depths = new Set<number>()

  /**
   * Returns the router of an endpoint's group.
   * @param mount path of the namespace.
   * @param path path of the endpoint below the namespace.
   */
  routerFor(mount: string, path: string): Router {
    const depth = mount.split('/').length - 1 + GROUP_SEGMENTS
    this.#depths.add(depth)
    const key = beginningOf(mount + path, depth)
    const router = this.#routers.get(key) ?? new Router()
    this.#routers.set(key, router)
    return router
  }

  /** @param others handles requests whose path belongs to no group or matches no route of its group. */
  middleware(others: Middleware): Middleware {
    const groups = new Map(
      [...this.#routers].map(([key, router]) => [key, router.routes() as unknown as Middleware]),
    )
    const depths = [...this.#depths]
    return (context, next) => {
      for (const depth of depths) {
        const group = groups.get(beginningOf(context.path, depth))
        if (group) return group(context, () => others(context, next) as Promise<void>) as Promise<void>
      }
      return others(context, next) as Promise<void>
    }
  }
}

/** Returns the first `segments` segments of a path, in lower case. */
function beginningOf(path: string, segments: number): string {
  let end = 0
  for (let count = 0; count < segments && end >= 0; count++) end = path.indexOf('/', end + 1)
  return (end < 0 ? path : path.slice(0, end)).toLowerCase()
}

function redirectToDocs(context: RouterContext): void {
  context.redirect(DOCS_PATH)
  context.type = 'text/plain'
  context.body = `Found. Redirecting to ${DOCS_PATH}`
}
