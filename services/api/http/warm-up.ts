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
 * Maximum duration of the warm-up, ms. The process does not listen before the end of the warm-up.
 *
 * Measured 2026-11-29 at factor 0.2, two pairs of runs: processor time of the api and the database for the first
 * hundred requests, divided by the processor time for later requests. Routes of the bench `rates`: 1.9 and 2.2 with the
 * warm-up, 3.6 and 3.3 without. Requests of the bench `traffic`: 2.0 and 2.4 with the warm-up, 2.6 and 2.6 without.
 */
const LONGEST_MS = 3_000
/** Time limit of one request of the warm-up, ms. */
const REQUEST_MS = 500
/**
 * Number of rounds of the warm-up. In the first round lists have no filter; in every later round each list has another
 * filter.
 */
const ROUNDS = 6
/**
 * Number of rounds of the warm-up that run all endpoints. Later rounds run only lists, which have the longest code and
 * the most query plans.
 */
const ROUNDS_OF_ALL = 2
/** Maximum number of values that are kept for each parameter name. */
const MAX_VALUES = 100

export interface WarmUpParts {
  readonly mounts: readonly Mount[]
  readonly database: RequestDatabase
  readonly lists: NamedLists
  /** Maximum size of one answer, bytes. */
  readonly maxBytes: number
  readonly logger: Logger
  /** Maximum duration of the warm-up, ms. Default 3 seconds; tests set more. */
  readonly longestMs?: number | undefined
}

/**
 * Runs the endpoints before the API listens, one request after another. As a result, V8 has compiled their functions,
 * and one database session has cached the catalog and prepared statements.
 *
 * The records of the first lists provide values for path parameters and filters of later requests. Requests of the
 * warm-up are not counted in metrics and limits, not logged, and not cached. The warm-up ends early if the database
 * fails or if all lists are empty.
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

/** Yields the endpoints of all rounds of the warm-up, in order. */
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

/** Whether an error concerns one request alone: a missing parameter, a missing record, or a slow query. */
function isRefusal(error: unknown): boolean {
  return error instanceof RequestError || (error instanceof PronghornError && error.code === 'QUERY_TIMEOUT')
}

/**
 * Runs an endpoint like a request does. Does nothing if no value is known for a path parameter. From the second round
 * on, an endpoint without path parameters also needs a known value for a filter.
 */
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

/** Values that the warm-up has found in records, by name of the record member. */
class SeenValues {
  readonly #values = new Map<string, string[]>()

  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  /** Collects the texts and numbers of a value at any depth. */
  collect(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string' || typeof member === 'number') this.#add(name, String(member))
      else this.collect(member)
    }
  }

  /**
   * Returns a collected value of the record member `name`; undefined if no record had the member. Successive rounds of
   * the warm-up get different values, if the member had several.
   */
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
