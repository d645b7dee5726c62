import type { RouterContext } from '@koa/router'
import type { Context } from 'koa'
import type { NamedLists } from '../../core/endpoint/index.ts'
import { notesOf, RequestError } from '../../core/http/index.ts'
import type { AnswerBudget } from '../../core/http/index.ts'
import { onceClosed } from '../../core/http/listener/index.ts'
import { setHeaders, unreadParameter, warningHeader } from '../../core/http/headers/index.ts'
import type { AnyAnswer, CacheRequest, AnswerCache } from '../cache/index.ts'
import { Answer, answerKey, LargeAnswer } from '../cache/index.ts'
import { Departure } from '../database/index.ts'
import type { RequestDatabase, WorkScope } from '../database/index.ts'
import type { Endpoint } from '../endpoint/index.ts'
import { jsonItemSizes, jsonSize } from '../json/index.ts'
import type { Json } from '../json/index.ts'
import type { RawParameters, RawValue } from '../request/index.ts'
import {
  answerTooLarge,
  familyOf,
  invalidParameter,
  readAttributeFilters,
  readRequest,
  MAX_PAIRS,
  parseQueryString,
} from '../request/index.ts'
import type { IncomingMessage } from 'node:http'
import { hasBody, mediaTypeOf } from '../../core/http/content/index.ts'
import type { BodyReader } from '../../core/http/content/index.ts'
import { parseJsonBody } from './json-body.ts'
import { parseMultipart } from './multipart-body.ts'
import type { KnownClient } from '../../core/http/limits/index.ts'

/** One endpoint under one of the paths at which its namespace is served. */
export interface Route {
  readonly pattern: string
  readonly namespace: string
  /** Identifies the endpoint on the server. The value is the same for all paths of the namespace. */
  readonly place: string
  readonly endpoint: Endpoint
  /** Whether the endpoint reads a few rows by key. */
  readonly isBrief: boolean
}

/** Dependencies of the endpoint handlers. */
export interface AnswerParts extends BodyParts {
  readonly database: RequestDatabase
  readonly lists: NamedLists
  /** Cache of answers; undefined if `cache_life` is not set. */
  readonly caching: AnswerCaching | undefined
  /** Time limit for the queries of a request, ms: `max_query_time_ms` of the configuration. */
  readonly maxTimeMs: number
  readonly answers: AnswerBudget
}

/** Creates the handler of an endpoint. The steps of the handler: parse, validate, look up the cache, run, send. */
export function createEndpointAnswer(
  route: Route,
  parts: AnswerParts,
): (context: RouterContext) => Promise<void> {
  const { endpoint, place, isBrief } = route
  const caller = `${route.namespace} ${endpoint.path}`
  return async (context) => {
    const notes = notesOf(context)
    notes.route = route.pattern
    notes.namespace = route.namespace
    const warnings: string[] = []
    const warn = (sentence: string): void => {
      warnings.push(sentence)
    }
    const raw = await readParameters(context, parts, warn)
    const deadlineMs = performance.now() + parts.maxTimeMs
    refuseUnknownExclusion(raw)
    const values = await readRequest(endpoint.parameters, {
      path: context.params,
      raw,
      lists: parts.lists,
      warn,
    })
    for (const name of raw.keys()) if (!isRead(endpoint, name)) warn(unreadParameter(name))
    const attributes = readAttributeFilters(raw, endpoint.attributes ?? [], warn)
    const noted = endpoint.noted?.filter((name) => raw.has(name)) ?? []
    const keyOf = (): string => answerKey(place, values, attributes, noted)
    const client = parts.clientOf(context)
    const scope: WorkScope = {
      caller,
      client: client.key,
      isBrief,
      reportsFailures: false,
      isCounted: true,
      deadlineMs,
      departure: departureOf(context),
    }
    await parts.answers.admit(client)
    const { caching: all } = parts
    const caching = endpoint.cache !== 'none' && all && mayUseCache(context, all.clientOf) ? all : undefined
    const create = async (): Promise<AnyAnswer> => {
      const data = await parts.database.run(
        (session) => endpoint.run({ session, values, attributes, noted }),
        scope,
      )
      return createAnswer(data, parts.answers.maxBytes, caching?.cache.maxValueBytes ?? 0)
    }
    // An answer that is found by its URL alone is sent without warnings, so a URL with warnings is not stored in the
    // cache.
    const address = warnings.length === 0 ? spelledAddress(context.req) : undefined
    const answer = caching
      ? await findOrCreate(context, route, caching, { keyOf, address, create })
      : await create()
    await parts.answers.hold(context, client, context.method === 'HEAD' ? 0 : answer.size)
    setHeaders(context.res, warningHeader(warnings))
    await answer.send(context)
  }
}

/** Responses above this size are assembled in steps, bytes. Other requests run between the steps. */
const LARGE_BYTES = 1024 * 1024

/**
 * Creates the response.
 * @throws RequestError 400 if the response is too large.
 */
export async function createAnswer(data: Json, maxBytes: number, maxCachedBytes: number): Promise<AnyAnswer> {
  const envelope = successEnvelope(Date.now())
  const bytes = jsonSize(data) + envelope.join('').length
  if (bytes > maxBytes) throw answerTooLarge({ bytes, maxBytes, items: jsonItemSizes(data) })
  if (bytes <= LARGE_BYTES) return Answer.of(data, envelope, bytes)
  return bytes <= maxCachedBytes
    ? Answer.inTurns(data, envelope, bytes)
    : LargeAnswer.of(data, envelope, bytes)
}

/**
 * Parameter of a later release of the replaced system. The parameter excludes sellers on a list that this server does
 * not have.
 */
const BLOCKED_SELLERS = 'hide_blocked_sellers'

/**
 * @throws RequestError 400 if the client asks to hide blocked sellers. If the parameter were ignored, the answer would
 * show rows of these sellers.
 */
function refuseUnknownExclusion(raw: RawParameters): void {
  const given = raw.get(BLOCKED_SELLERS)
  if (given === undefined || ['', '0', 'false'].includes(String(given))) return
  if (!['1', 'true'].includes(String(given))) throw invalidParameter(BLOCKED_SELLERS, 'must be true or false')
  throw invalidParameter(
    BLOCKED_SELLERS,
    'the server has no list of blocked sellers; seller_blacklist excludes sellers, or $list:NAME excludes the sellers of a named list',
  )
}

/** Whether an endpoint reads the parameter `name` from the query string or the body. */
function isRead({ parameters, attributes = [], noted = [] }: Endpoint, name: string): boolean {
  const family = familyOf(name)
  if (family !== undefined) return attributes.includes(family)
  const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
  return noted.includes(name) || (parameter !== undefined && parameter.in !== 'path')
}

/** Functions and URL to find an answer in the cache or to create the answer. */
interface WantedAnswer extends Pick<CacheRequest, 'address'> {
  readonly keyOf: () => string
  readonly create: () => Promise<AnyAnswer>
}

async function findOrCreate(
  context: Context,
  { pattern, namespace, endpoint }: Route,
  caching: AnswerCaching,
  { keyOf, address, create }: WantedAnswer,
): Promise<AnyAnswer> {
  const request = {
    key: keyOf(),
    address,
    route: pattern,
    namespace,
    lifeFactor: endpoint.cacheLifeFactor ?? 1,
  }
  const { answer, outcome } = await caching.cache.answer(request, create)
  notesOf(context).cache = outcome
  return answer
}

/**
 * Creates the `Departure` of a request. The departure happens when the client closes its connection before the response
 * is complete.
 */
function departureOf({ req, res }: Context): Departure {
  const departure = new Departure()
  onceClosed({ req, res }, () => {
    if (!res.writableFinished) departure.happen()
  })
  return departure
}

/** Merges the parameters of query string and body. If both have a parameter, the body's value is used. */
async function readParameters(
  context: Context,
  parts: BodyParts,
  warn: (sentence: string) => void,
): Promise<RawParameters> {
  const query = parseQueryString(context.querystring)
  if (!query) throw new RequestError(400, `The query has more than ${MAX_PAIRS} parameters: send fewer`)
  for (const [name, value] of await readBodyParameters(context.req, parts, warn)) query.set(name, value)
  return query
}

/** Maximum number of characters of a media type in an error message. */
const MAX_TYPE_SHOWN = 100

/** Creates the error 415 with the media type of a body that cannot be read. */
function unreadType(type: string): RequestError {
  const problem =
    type === ''
      ? 'The body is not JSON, and the request has no header Content-Type'
      : `The body has the type ${type.slice(0, MAX_TYPE_SHOWN)}`
  const readable =
    'JSON as application/json, or a form as application/x-www-form-urlencoded or multipart/form-data'
  return new RequestError(415, `${problem}: send ${readable}`)
}

/** Formats of request bodies. */
type Form = 'json' | 'urlencoded' | 'multipart' | 'text' | 'untyped'

/**
 * Returns the body format of a media type.
 * @throws RequestError 415 for an unsupported type.
 */
function formOf(type: string): Form {
  if (type.endsWith('json')) return 'json'
  if (type === 'application/x-www-form-urlencoded') return 'urlencoded'
  if (type === 'multipart/form-data') return 'multipart'
  if (type === 'text/plain') return 'text'
  if (type === '') return 'untyped'
  throw unreadType(type)
}

/** Reader of request bodies, and the function that identifies the client of a request. */
export interface BodyParts {
  readonly bodies: BodyReader
  readonly clientOf: ClientOf
}

/**
 * Reads the parameters in the body of a request, of any method. The body is JSON, or the fields of a form.
 *
 * JSON is also read if the media type is plain text or urlencoded form, because curl and browsers send these types by
 * default. Plain text that is not JSON has no parameters, as in the replaced system.
 *
 * @param warn called with a sentence for each ignored part of the body.
 * @throws RequestError 400 malformed, 408 too slow, 413 too large, 415 unsupported type or compression, 503 too many
 * bodies at once.
 */
async function readBodyParameters(
  request: IncomingMessage,
  { bodies, clientOf }: BodyParts,
  warn: (sentence: string) => void,
): Promise<Map<string, RawValue>> {
  if (!hasBody(request)) return new Map()
  const form = formOf(mediaTypeOf(request))
  const text = await bodies.readText(request, clientOf({ req: request }).key)
  if (form === 'multipart') return parseMultipart(text, request.headers['content-type']!)
  if (form === 'json' || /^\s*(?:[[{]|$)/.test(text)) return parseJsonBody(text, warn)
  if (form === 'urlencoded') return parseForm(text)
  if (form === 'untyped') throw unreadType('')
  warn('the body is plain text instead of JSON; it is ignored')
  return new Map()
}

function parseForm(text: string): Map<string, RawValue> {
  const parameters = parseQueryString(text.trim())
  if (!parameters) throw new RequestError(400, `The body has more than ${MAX_PAIRS} parameters: send fewer`)
  return parameters
}

/** Identifies the client of a request. */
export type ClientOf = (of: { readonly req: IncomingMessage }) => KnownClient

/** Cache of answers, and the function that identifies the client of a request. */
export interface AnswerCaching {
  readonly cache: AnswerCache
  readonly clientOf: ClientOf
}

/** Whether the answer of a request may come from the cache and may be stored in the cache. */
export function mayUseCache({ req }: { readonly req: IncomingMessage }, clientOf: ClientOf): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && !clientOf({ req }).isExempt
}

/** URL of a request as the client sent it; undefined if the request has a body. */
export function spelledAddress(request: IncomingMessage): string | undefined {
  return hasBody(request) ? undefined : request.url
}

/** Text before and after `data` in a response. `query_time` is the clock of the server, ms since 1970. */
function successEnvelope(nowMs: number): readonly [before: string, after: string] {
  return ['{"success":true,"data":', `,"query_time":${nowMs}}`]
}

/** Wraps the JSON text of `data` in the success envelope. */
export function successBody(data: string, nowMs: number): string {
  return successEnvelope(nowMs).join(data)
}

/** JSON text of a failure. */
export function failureBody(message: string): string {
  return JSON.stringify({ success: false, message })
}
