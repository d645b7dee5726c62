import { Readable } from 'node:stream'
import type { Context, Middleware } from 'koa'
import { readParameters } from '../../core/endpoint/index.ts'
import { JSON_TYPE, notesOf } from '../../core/http/index.ts'
import { hasBody } from '../../core/http/content/index.ts'
import {
  repeatedParameter,
  setHeaders,
  unreadParameter,
  warningHeader,
} from '../../core/http/headers/index.ts'
import type { AnswerBudget } from '../../core/http/index.ts'
import type { KnownClient } from '../../core/http/limits/index.ts'
import { answerTooLarge, invalidRequest, Refusal, writeAnswer } from '../answers/index.ts'
import type { Endpoint, StateParts } from '../endpoints/index.ts'
import { readBody } from './body.ts'
import type { ReadText } from './body.ts'

/** Handler of a path outside the endpoints. */
export type RootAnswer = (context: Context) => Promise<void> | void

/** Dependencies of the routes. */
export interface RouteParts {
  readonly endpoints: readonly Endpoint[]
  /** GET handlers by path; they need no token. */
  readonly roots: ReadonlyMap<string, RootAnswer>
  readonly state: StateParts
  /** Step that admits only requests with a valid token. */
  readonly checkToken: Middleware
  readonly readText: ReadText
  readonly answers: AnswerBudget
  readonly clientOf: (context: Context) => KnownClient
}

/** Creates the routes. A trailing slash is optional. */
export function createRoutes(parts: RouteParts): Middleware {
  const { endpoints, roots, checkToken } = parts
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]))
  return async (context) => {
    const path = withoutSlash(context.path)
    const root = roots.get(path)
    if (root) {
      requireMethod(context, ['GET'])
      await root(context)
      return
    }
    const endpoint = byPath.get(path)
    if (!endpoint) throw new Refusal(404, 'not_found_error', 'The path does not exist.')
    notesOf(context).route = endpoint.path
    requireMethod(context, endpoint.methods)
    const answer = (): Promise<void> => answerEndpoint(context, endpoint, parts)
    if (endpoint.needsToken) await checkToken(context, answer)
    else await answer()
  }
}

/** Creates a function that returns the HTTP methods that a path answers. */
export function createMethodsOf(endpoints: readonly Endpoint[]): (path: string) => readonly string[] {
  const byPath = new Map(endpoints.map(({ path, methods }) => [path, methods]))
  return (path) => withHead(byPath.get(withoutSlash(path)) ?? ['GET'])
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/$/, '') : path
}

function withHead(methods: readonly string[]): string[] {
  return [...(methods.includes('GET') ? ['HEAD'] : []), ...methods]
}

function requireMethod(context: Context, methods: readonly string[]): void {
  const method = context.method === 'HEAD' ? 'GET' : context.method
  if (methods.includes(method)) return
  throw new Refusal(405, 'method_not_allowed_error', `The path does not answer ${context.method}.`, {
    headers: {
      Allow: [...withHead(methods), 'OPTIONS'].join(', '),
    },
  })
}

async function answerEndpoint(
  context: Context,
  endpoint: Endpoint,
  { state, readText, answers, clientOf }: RouteParts,
): Promise<void> {
  const tooLarge = (bytes: number, rows: number): Refusal =>
    answerTooLarge(bytes, answers.maxBytes, 'limit' in endpoint.parameters ? rows : 0)
  const query = new URLSearchParams(context.querystring)
  const given = new Map<string, unknown>(query)
  // The token check has read `token`. No endpoint has this parameter, so `ignoredNames` would warn about it.
  given.delete('token')
  if (context.method === 'POST') {
    for (const [name, value] of await readBody(context.req, endpoint.body, readText)) given.set(name, value)
  }
  const errors: Record<string, string[]> = {}
  const values = await readParameters(endpoint.parameters, {
    find: (name) => given.get(name),
    refuse: (name, complaint) => (errors[name] = [`The ${name} field ${complaint.message}`]),
  })
  if (Object.keys(errors).length > 0) throw invalidRequest(errors)
  setHeaders(context.res, warningHeader([...ignoredParts(context, query), ...ignoredNames(given, endpoint)]))
  const client = clientOf(context)
  await answers.admit(client)
  let held = 0
  const hold = async (bytes: number): Promise<void> => {
    await answers.hold(context, client, bytes)
    held += bytes
  }
  const body = await endpoint.run(values, { ...state, hold })
  const isText = typeof body === 'string' || Buffer.isBuffer(body)
  const { pieces, bytes } = isText ? wholeAnswer(body) : await writeAnswer(body, answers.maxBytes, tooLarge)
  if (bytes > answers.maxBytes) throw tooLarge(bytes, 0)
  if (bytes > held) await hold(bytes - held)
  context.status = 200
  context.type = JSON_TYPE
  // A large response is a stream, which sends its buffers as fast as the client reads.
  context.body = bytes > WHOLE_BYTES ? Readable.from(pieces) : Buffer.concat(pieces)
  context.length = bytes
}

/** Warnings for an ignored body, and for repeated query parameters: only the last value is used. */
function ignoredParts({ req, method }: Context, query: URLSearchParams): string[] {
  const repeated = [...new Set(query.keys())].filter((name) => new Set(query.getAll(name)).size > 1)
  return [
    ...(method !== 'POST' && hasBody(req)
      ? [`the body of a ${method} request is ignored; send its parameters in the query`]
      : []),
    ...repeated.map(repeatedParameter),
  ]
}

/**
 * Warnings for parameters that the endpoint does not have. Without a warning, a misspelt name of the block
 * parameter would silently select another block.
 */
function ignoredNames(given: ReadonlyMap<string, unknown>, { parameters }: Endpoint): string[] {
  return [...given.keys()].filter((name) => !Object.hasOwn(parameters, name)).map(unreadParameter)
}

/** Maximum size of a response that is sent as one buffer, bytes; larger responses are streamed. */
const WHOLE_BYTES = 256 * 1024

function wholeAnswer(body: string | Buffer): Awaited<ReturnType<typeof writeAnswer>> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return { pieces: [bytes], bytes: bytes.length }
}
