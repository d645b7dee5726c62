import { Router } from '@koa/router'
import type { RouterContext } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { notesOf, RequestError } from '../../core/http/index.ts'
import type { Endpoint, Failure, Namespace, RecordSchema } from '../endpoint/index.ts'
import { createEndpointAnswer } from './endpoint-answers.ts'
import type { AnswerParts } from './endpoint-answers.ts'

/** A namespace and the paths that it answers on. */
export interface Mount {
  readonly namespace: Namespace
  /** Prefixes without a slash at the end, for example `/assets` and `/atomicassets`. */
  readonly paths: readonly string[]
}

/** Description of a route outside the namespaces, for the OpenAPI document. */
export interface RouteDocumentation {
  readonly summary: string
  /** `data` of its envelope; without it the answer is text. */
  readonly record?: RecordSchema
  readonly failures?: readonly Failure[]
}

/** A route outside the namespaces; it answers to GET and HEAD. */
export interface RootRoute {
  readonly paths: readonly string[]
  /** Of its first path; a route without it is not in the document. */
  readonly documentation?: RouteDocumentation
  /** Counts for the limit of requests, as the paths of the namespaces do. */
  readonly isLimited?: true
  readonly answer: (context: Context) => Promise<void> | void
}

/** Dependencies of the routes. */
export interface RouteParts extends AnswerParts {
  readonly roots: readonly RootRoute[]
  readonly mounts: readonly Mount[]
}

/** Below each namespace, addresses of old that lead to the documentation of the whole server. */
const docsAliases = ['/docs', '/docs/swagger']
const DOCS_PATH = '/docs'

/** Methods that an endpoint answers to unless it is for GET and HEAD only. */
const answeredMethods = ['HEAD', 'GET', 'POST']
/** Methods that write; nothing here can be written. */
const refusedMethods = ['DELETE', 'PATCH', 'PUT']

function refuseMethod(allowed: string): (context: Context) => never {
  return ({ method }) => {
    throw new RequestError(405, `Method ${method} not allowed: send ${allowed}`, { Allow: allowed })
  }
}

/** Creates the routes of all namespaces. Literals match in any letter case; a slash at the end is optional. */
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
        // Other methods of the former answer 404, as clients know it.
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

/** Whether an endpoint answers with one record of a kind that is found by its key, or needs none, as the configuration. */
function findsByKey({ parameters, record }: Endpoint, { records }: Namespace): boolean {
  const all = Object.values(parameters)
  if (all.length === 0) return record.type !== 'array'
  const isRecord = Object.values(records).some(({ schema }) => schema.title === record.title)
  return isRecord && all.every((parameter) => parameter.in === 'path')
}

/** Number of leading path segments that identify the group of an endpoint, as in `/v1/assets`; none is a parameter. */
const GROUP_SEGMENTS = 2

/**
 * Routers by the beginning of the path. A router tries its routes one after the other, and all namespaces together have
 * hundreds.
 */
class RouteGroups {
  readonly #routers = new Map<string, Router>()
  /** Leading path segments of the group, for each depth of a namespace's path. */
  readonly #depths = new Set<number>()

  /** @param mount path of the namespace; @param path of the endpoint below it. */
  routerFor(mount: string, path: string): Router {
    const depth = mount.split('/').length - 1 + GROUP_SEGMENTS
    this.#depths.add(depth)
    const key = beginningOf(mount + path, depth)
    const router = this.#routers.get(key) ?? new Router()
    this.#routers.set(key, router)
    return router
  }

  /** @param others answers what belongs to no group, and what none of its routes matches. */
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

/** The first segments of a path, in small letters. */
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
