import type { RouterContext } from '@koa/router'
import type { Context } from 'koa'
import type { NamedLists } from '../../core/endpoint/index.ts'
import { notesOf, RequestError } from '../../core/http/index.ts'
import type { AnswerBudget } from '../../core/http/index.ts'
import { onceClosed } from '../../core/http/listener/index.ts'
import { setHeaders, unreadParameter, warningHeader } from '../../core/http/headers/index.ts'
import type { AnyAnswer, CacheRequest } from '../cache/index.ts'
import { Answer, answerKey, LargeAnswer } from '../cache/index.ts'
import { Departure } from '../database/index.ts'
import type { RequestDatabase, WorkScope } from '../database/index.ts'
import type { Endpoint } from '../endpoint/index.ts'
import { jsonItemSizes, jsonSize } from '../json/index.ts'
import type { Json } from '../json/index.ts'
import type { RawParameters } from '../request/index.ts'
import {
  answerTooLarge,
  familyOf,
  invalidParameter,
  readAttributeFilters,
  readRequest,
} from '../request/index.ts'
import { readBodyParameters } from './body.ts'
import type { BodyParts } from './body.ts'
import { successEnvelope } from './envelope.ts'
import type { AnswerCaching } from './cached-answers.ts'
import { mayUseCache, spelledAddress } from './cached-answers.ts'
import { MAX_PAIRS, parseQueryString } from './query-string.ts'

/** An endpoint on one path of its namespace. */
export interface Route {
  readonly pattern: string
  readonly namespace: string
  /** The same for every path of the namespace, and for no other endpoint of the server. */
  readonly place: string
  readonly endpoint: Endpoint
  /** It reads few rows, by their keys. */
  readonly isBrief: boolean
}

/** Dependencies of endpoints. */
export interface AnswerParts extends BodyParts {
  readonly database: RequestDatabase
  readonly lists: NamedLists
  /** Undefined without `cache_life`. */
  readonly caching: AnswerCaching | undefined
  /** `max_query_time_ms`. */
  readonly maxTimeMs: number
  readonly answers: AnswerBudget
}

/** One request of an endpoint: parse, validate, look into the cache, run, send. */
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
    warnings.push(...ignoredParameters(raw, endpoint))
    const attributes = readAttributeFilters(raw, endpoint.attributes ?? [], endpoint.attributeReading)
    const noted = endpoint.noted?.filter((name) => raw.has(name)) ?? []
    const keyOf = (): string => answerKey(place, values, attributes, noted)
    const client = parts.clientOf(context)
    const scope: WorkScope = {
      caller,
      client: client.key,
      isBrief,
      reportsFailures: false,
      deadlineMs,
      departure: departureOf(context),
    }
    await parts.answers.admit(client)
    const caching = mayCache(context, route, parts.caching) ? parts.caching : undefined
    const create = async (): Promise<AnyAnswer> => {
      const data = await parts.database.run(
        (session) => endpoint.run({ session, values, attributes, noted }),
        scope,
      )
      return createAnswer(data, parts.answers.maxBytes, caching?.cache.maxValueBytes ?? 0)
    }
    // Cached answers that are found by the URL alone carry no warnings.
    const address = warnings.length === 0 ? spelledAddress(context.req) : undefined
    const answer = await findOrCreate(context, route, caching, { keyOf, address, create })
    await parts.answers.hold(context, client, context.method === 'HEAD' ? 0 : answer.size)
    setHeaders(context.res, warningHeader(warnings))
    await answer.send(context)
  }
}

/** Answers above this size are assembled in steps, which yield to other requests. */
const LARGE_BYTES = 1024 * 1024

/** @throws RequestError 400 for an answer that is too large. */
async function createAnswer(data: Json, maxBytes: number, maxCachedBytes: number): Promise<AnyAnswer> {
  const envelope = successEnvelope(Date.now())
  const bytes = jsonSize(data) + envelope.join('').length
  if (bytes > maxBytes) throw answerTooLarge({ bytes, maxBytes, items: jsonItemSizes(data) })
  if (bytes <= LARGE_BYTES) return Answer.of(data, envelope, bytes)
  return bytes <= maxCachedBytes
    ? Answer.inTurns(data, envelope, bytes)
    : LargeAnswer.of(data, envelope, bytes)
}

/** A later release of the replaced system excludes sellers by it, with a list that this server does not have. */
const BLOCKED_SELLERS = 'hide_blocked_sellers'

/** @throws RequestError 400: ignoring the parameter would show what the client wants to exclude. */
function refuseUnknownExclusion(raw: RawParameters): void {
  const given = raw.get(BLOCKED_SELLERS)
  if (given === undefined || ['', '0', 'false'].includes(String(given))) return
  throw invalidParameter(
    BLOCKED_SELLERS,
    'the server has no list of blocked sellers; seller_blacklist excludes sellers, or $list:NAME those of a named list',
  )
}

function ignoredParameters(raw: RawParameters, endpoint: Endpoint): string[] {
  return [...raw.keys()].filter((name) => !isRead(endpoint, name)).map(unreadParameter)
}

/** Whether an endpoint reads a parameter of the query or the body. */
function isRead({ parameters, attributes = [], noted = [] }: Endpoint, name: string): boolean {
  const family = familyOf(name)
  if (family !== undefined) return attributes.includes(family)
  const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
  return noted.includes(name) || (parameter !== undefined && parameter.in !== 'path')
}

/** An answer, as the cache finds it or as it is created. */
interface WantedAnswer extends Pick<CacheRequest, 'address'> {
  readonly keyOf: () => string
  readonly create: () => Promise<AnyAnswer>
}

function mayCache(context: Context, { endpoint }: Route, caching: AnswerCaching | undefined): boolean {
  return caching !== undefined && endpoint.cache !== 'none' && mayUseCache(context, caching.clientOf)
}

async function findOrCreate(
  context: Context,
  { pattern, namespace, endpoint }: Route,
  caching: AnswerCaching | undefined,
  { keyOf, address, create }: WantedAnswer,
): Promise<AnyAnswer> {
  if (!caching) return create()
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

/** Happens when the client closes its connection before it has its answer. */
function departureOf({ req, res }: Context): Departure {
  const departure = new Departure()
  onceClosed({ req, res }, () => {
    if (!res.writableFinished) departure.happen()
  })
  return departure
}

/** Query string and body, merged; the body wins. */
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
