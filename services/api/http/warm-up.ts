import type { NamedLists } from '../../core/endpoint/index.ts'
import { describeError, PronghornError } from '../../core/errors/index.ts'
import { RequestError } from '../../core/http/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import type { Endpoint } from '../endpoint/index.ts'
import { jsonString } from '../json/index.ts'
import { readRequest } from '../request/index.ts'
import { createAnswer } from './endpoint-answers.ts'
import type { Mount } from './routes.ts'

/**
 * Longest duration of the warm-up, ms; the process listens that much later. Measured at factor 0.2, two pairs, 2026-11-29:
 * processor time of the api and the database for the first hundred requests, divided by that of later requests, is 1.9
 * and 2.2 with the warm-up and 3.6 and 3.3 without it for the routes of the bench `rates`; 2.0 and 2.4, and 2.6 and 2.6
 * for the requests of the bench `traffic`.
 */
const LONGEST_MS = 3_000
/** Time limit of one request of the warm-up, ms. */
const REQUEST_MS = 500
/** Rounds of requests. In the first one lists have no filter; later, each has another filter in every round. */
const ROUNDS = 6
/** Rounds in which all endpoints take part. In later ones only lists do: they have the longest code and the most plans. */
const ROUNDS_OF_ALL = 2
/** Number of values of each name that are kept for filters. */
const MAX_VALUES = 100

/** Dependencies of the warm-up. */
export interface WarmUpParts {
  readonly mounts: readonly Mount[]
  readonly database: RequestDatabase
  readonly lists: NamedLists
  /** Limit of the bytes of one answer. */
  readonly maxBytes: number
  readonly logger: Logger
  /** Longest duration, ms; default 3 seconds. Tests lengthen it. */
  readonly longestMs?: number | undefined
}

/**
 * Runs the endpoints before the API listens, one request after the other: V8 then has compiled their functions, and one
 * database session has cached the catalog and prepared statements. Records of the lists have the values of path
 * parameters and filters of later requests. Requests of the warm-up are not counted in metrics and limits, not logged,
 * and not cached. The warm-up ends early if the database fails or if all lists are empty.
 */
export async function warmUp(parts: WarmUpParts): Promise<void> {
  const startedMs = performance.now()
  const endpoints = parts.mounts.flatMap(({ namespace }) => namespace.endpoints)
  const values = new SeenValues()
  let requests = 0
  for (const { endpoint, round } of turnsOf(endpoints)) {
    if (performance.now() - startedMs > (parts.longestMs ?? LONGEST_MS) || (round > 0 && values.isEmpty))
      break
    try {
      await answer(parts, endpoint, values, round)
      requests++
    } catch (error) {
      if (isRefusal(error)) continue
      parts.logger.debug(`The warm-up ended early: ${describeError(error)}`)
      break
    }
  }
  const tookMs = Math.round(performance.now() - startedMs)
  parts.logger.debug({ requests, tookMs }, 'Warmed up')
}

/** The endpoints of all rounds, in order. */
function* turnsOf(endpoints: readonly Endpoint[]): Generator<{ endpoint: Endpoint; round: number }> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const endpoint of endpoints) {
      if (round < ROUNDS_OF_ALL || isList(endpoint)) yield { endpoint, round }
    }
  }
}

function isList({ record, parameters }: Endpoint): boolean {
  return record.type === 'array' && Object.values(parameters).every((parameter) => parameter.in !== 'path')
}

/** Whether an error concerns its request alone: a missing parameter, no such record, a slow query. */
function isRefusal(error: unknown): boolean {
  return error instanceof RequestError || (error instanceof PronghornError && error.code === 'QUERY_TIMEOUT')
}

/** Runs an endpoint as for a request, unless the value of a path parameter is not known, or there is no filter to try. */
async function answer(
  { database, lists, maxBytes }: WarmUpParts,
  endpoint: Endpoint,
  seen: SeenValues,
  round: number,
): Promise<void> {
  const path = new Map<string, string>()
  const filters: [name: string, value: string][] = []
  for (const [name, parameter] of Object.entries(endpoint.parameters)) {
    const value = seen.get(name, round)
    if (value !== undefined && parameter.in === 'path') path.set(name, value)
    else if (value !== undefined) filters.push([name, value])
    else if (parameter.in === 'path') return
  }
  const filter = round === 0 ? undefined : filters[round % filters.length]
  if (round > 0 && path.size === 0 && !filter) return
  const values = await readRequest(endpoint.parameters, {
    path: Object.fromEntries(path),
    raw: new Map(filter && [filter]),
    lists,
  })
  const data = await database.run((session) => endpoint.run({ session, values, attributes: [], noted: [] }), {
    caller: 'warm-up',
    deadlineMs: performance.now() + REQUEST_MS,
    reportsFailures: true,
    isCounted: false,
  })
  await createAnswer(data, maxBytes, 0)
  if (round === 0) seen.collect(JSON.parse(jsonString(data)))
}

/** Values of the members of records, by the names of the members. */
class SeenValues {
  readonly #values = new Map<string, string[]>()

  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  /** Collects texts and numbers at any depth. */
  collect(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string' || typeof member === 'number') this.#add(name, String(member))
      else this.collect(member)
    }
  }

  /** A value of that name, another one for each round; undefined if none was seen. */
  get(name: string, round: number): string | undefined {
    const values = this.#values.get(name)
    return values?.[round % values.length]
  }

  #add(name: string, value: string): void {
    const values = this.#values.get(name)
    if (!values) this.#values.set(name, [value])
    else if (values.length < MAX_VALUES && !values.includes(value)) values.push(value)
  }
}
