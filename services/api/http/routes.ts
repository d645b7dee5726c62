import { Router } from '@koa/router'
import type { RouterContext } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { notesOf } from '../../core/http/index.ts'
import type { Failure, Namespace, RecordSchema } from '../endpoint/index.ts'
import { createEndpointAnswer } from './endpoint-answers.ts'
import type { AnswerParts } from './endpoint-answers.ts'

/** A namespace and the paths that it answers on. */
export interface Mount {
  readonly namespace: Namespace
  /** Prefixes without a slash at the end, for example `/assets` and `/atomicassets`. */
  readonly paths: readonly string[]
}

/** What the OpenAPI document says of a route outside the namespaces. */
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
  readonly answer: (context: Context) => Promise<void> | void
}

/** What the routes need to answer. */
export interface RouteParts extends AnswerParts {
  readonly roots: readonly RootRoute[]
  readonly mounts: readonly Mount[]
}

/** Below each namespace, addresses of old that lead to the documentation of the whole server. */
const DOCS_ALIASES = ['/docs', '/docs/swagger']
const DOCS_PATH = '/docs'

/** Makes the routes of all namespaces. Literals match in any letter case; a slash at the end is optional. */
export function createRoutes(parts: RouteParts): Middleware {
  const router = new Router()
  for (const { paths, answer } of parts.roots) {
    for (const path of paths) {
      router.get(path, (context) => {
        notesOf(context).route = path
        return answer(context)
      })
    }
  }
  for (const { namespace, paths } of parts.mounts) {
    for (const path of paths) for (const alias of DOCS_ALIASES) router.all(path + alias, redirectToDocs)
    for (const endpoint of namespace.endpoints) {
      for (const path of paths) {
        const pattern = path + endpoint.path
        const place = `${paths[0]!}${endpoint.path}`
        const { name, clock } = namespace
        const answer = createEndpointAnswer({ pattern, namespace: name, place, endpoint, clock }, parts)
        if (endpoint.method === 'get') router.get(pattern, answer)
        else router.all(pattern, answer)
      }
    }
  }
  return router.routes() as unknown as Middleware
}

function redirectToDocs(context: RouterContext): void {
  context.redirect(DOCS_PATH)
  context.type = 'text/plain'
  context.body = `Found. Redirecting to ${DOCS_PATH}`
}
