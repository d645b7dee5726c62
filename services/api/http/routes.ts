import { Router } from '@koa/router'
import type { RouterContext } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { RequestDatabase } from '../database/index.ts'
import type { Endpoint, Namespace, NamedLists, RawParameters } from '../endpoint/index.ts'
import { notesOf, RequestError, sendJson } from '../../core/http/index.ts'
import { readAttributeFilters, validateParameters } from '../endpoint/index.ts'
import { readBodyParameters } from './body.ts'
import { successBody } from './envelope.ts'
import { parseQueryString } from './query-string.ts'

/** A namespace and the paths that it answers on. */
export interface Mount {
  readonly namespace: Namespace
  /** Prefixes without a slash at the end, for example `/assets` and `/atomicassets`. */
  readonly paths: readonly string[]
}

/** A route outside the namespaces; it answers to GET and HEAD. */
export interface RootRoute {
  readonly paths: readonly string[]
  readonly answer: (context: Context) => Promise<void> | void
}

/** What the routes need to answer. */
export interface RouteParts {
  readonly roots: readonly RootRoute[]
  readonly mounts: readonly Mount[]
  readonly database: RequestDatabase
  readonly lists: NamedLists
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
        const route = { pattern: path + endpoint.path, namespace: namespace.name, endpoint }
        const answer = answerEndpoint(route, parts)
        if (endpoint.method === 'get') router.get(route.pattern, answer)
        else router.all(route.pattern, answer)
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

/** An endpoint on one path of its namespace. */
interface Route {
  readonly pattern: string
  readonly namespace: string
  readonly endpoint: Endpoint
}

/** One request of an endpoint: parse, validate, run, serialize. */
function answerEndpoint(
  { pattern, namespace, endpoint }: Route,
  parts: RouteParts,
): (context: RouterContext) => Promise<void> {
  return async (context) => {
    Object.assign(notesOf(context), { route: pattern, namespace })
    const raw = await readParameters(context)
    const values = await validateParameters(endpoint.parameters, context.params, raw, parts.lists)
    const attributes = readAttributeFilters(raw, endpoint.attributes ?? [])
    const data = await parts.database.run((session) => endpoint.run({ session, values, attributes }))
    sendJson(context, 200, successBody(data, Date.now()))
  }
}

/** Query string and body, merged; the body wins. */
async function readParameters(context: Context): Promise<RawParameters> {
  const query = parseQueryString(context.querystring)
  if (!query) throw new RequestError(400, 'The query has too many parameters')
  for (const [name, value] of await readBodyParameters(context.req)) query.set(name, value)
  return query
}
