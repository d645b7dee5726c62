import type pg from 'pg'
import { createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { pause } from '../../core/retry/index.ts'
import { defaultListLimits, readLists } from './read-lists.ts'
import type { ListLimits, NamedItems } from './read-lists.ts'
import { listSources } from './source.ts'
import type { ListSettings, ListSource } from './source.ts'
import { dropFormerSources, noteProblem, storeLists } from './store-lists.ts'

export interface ListPollOptions {
  readonly readers: readonly ListSettings[]
  readonly database: DatabaseAddress
  readonly logger: Logger
  readonly limits?: Partial<ListLimits>
  /** Called after every poll of a list source, with the outcome of the poll. */
  readonly onPoll?: (result: ListPollResult) => void
}

/** Outcome of one poll of a list source. */
export interface ListPollResult {
  /** Address of the list source, without secrets. */
  readonly address: string
  readonly outcome: 'changed' | 'unchanged' | 'failed'
  /** Number of items in all lists of the list source; undefined if the poll failed. */
  readonly items: number | undefined
}

/** Repeated requests to the list sources, which run until `stop` is called. */
export interface ListPolls {
  /** Aborts running requests and waits for the polls to end. Safe to call twice. */
  stop(): Promise<void>
}

const STATEMENT_TIMEOUT_MS = 30_000
const MAX_CONNECTIONS = 2
/**
 * Time in seconds after which a list source that failed is polled again. A shorter `frequency` of the source takes
 * precedence.
 */
const RETRY_SECONDS = 60

/**
 * Polls each source for its lists, immediately and then every `frequency` seconds. If a source fails, its last lists
 * stay in force, and the source is polled again after at most a minute. A failure does not affect other sources.
 */
export function startListPolls(options: ListPollOptions): ListPolls {
  const sources = listSources(options.readers)
  const ending = new AbortController()
  const pool = createPool(options.database, {
    applicationName: 'pronghorn lists',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    max: MAX_CONNECTIONS,
  })
  const running = [
    forgetFormer(pool, options, sources),
    ...sources.map((source) => pollForEver(pool, options, source, ending.signal)),
  ]
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    ending.abort()
    await Promise.all(running)
    await pool.end()
  }
  return { stop: () => (stopping ??= stop()) }
}

async function forgetFormer(
  pool: pg.Pool,
  { readers, logger }: ListPollOptions,
  sources: readonly ListSource[],
): Promise<void> {
  try {
    const names = readers.map(({ name }) => name)
    const removed = await withClient(pool, (client) => dropFormerSources(client, names, sources))
    if (removed > 0)
      logger.info({ removed }, 'removed the named lists of sources that are no longer configured')
  } catch (error) {
    logger.warn(`former sources of named lists could not be removed: ${describeError(error)}`)
  }
}

async function pollForEver(
  pool: pg.Pool,
  options: ListPollOptions,
  source: ListSource,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const result = await poll(pool, options, source, signal)
    if (result) options.onPoll?.(result)
    const seconds =
      result?.outcome === 'failed' ? Math.min(RETRY_SECONDS, source.frequency) : source.frequency
    await pause(seconds * 1_000, signal)
  }
}

/** Polls a source once and stores its lists. Returns undefined if the polls were stopped during this poll. */
async function poll(
  pool: pg.Pool,
  { logger, limits }: ListPollOptions,
  source: ListSource,
  signal: AbortSignal,
): Promise<ListPollResult | undefined> {
  const { address } = source
  try {
    const lists = await readLists(source, { ...defaultListLimits, ...limits }, signal)
    const { written, removed } = await withClient(pool, (client) => storeLists(client, source, lists))
    const isChanged = written + removed > 0
    if (isChanged) logger.info({ source: address, written, removed }, 'named lists changed')
    return { address, outcome: isChanged ? 'changed' : 'unchanged', items: countItems(lists) }
  } catch (error) {
    if (signal.aborted) return undefined
    const problem = describeError(error)
    logger.warn({ source: address }, `named lists are not updated: ${problem}`)
    await withClient(pool, (client) => noteProblem(client, source, problem.slice(0, 1_000))).catch(
      () => undefined,
    )
    return { address, outcome: 'failed', items: undefined }
  }
}

function countItems(lists: NamedItems): number {
  let count = 0
  for (const items of lists.values()) count += items.length
  return count
}

async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken = false
  const onBreak = (): void => {
    broken = true
  }
  client.on('error', onBreak)
  try {
    return await work(client)
  } catch (error) {
    broken = true
    throw error
  } finally {
    client.off('error', onBreak)
    client.release(broken)
  }
}
