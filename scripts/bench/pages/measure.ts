/** Counts the pages of each kind of request on a generated database. */
import type pg from 'pg'
import { connectDatabase } from '../../../services/core/database/index.ts'
import { startApiProcess } from '../api-server.ts'
import { newestServer, startGeneratedServer } from '../generated-server.ts'
import type { GeneratedOptions } from '../generated-server.ts'
import { pageKinds } from './kinds.ts'
import type { PageKind } from './kinds.ts'
import { PageMeter } from './meter.ts'
import type { CountedRequest } from './result.ts'

/** Which database to use, which kinds of request to count, and how many requests of each kind. */
export interface PageOptions extends Pick<GeneratedOptions, 'data' | 'seed' | 'factor'> {
  /** Number of requests of each kind whose pages are counted. */
  readonly samples: number
  /** Only kinds of request whose name contains this text are counted. */
  readonly only?: string | undefined
}

/** Requests whose pages were counted, by the name of the kind of request. */
export type CountedKinds = ReadonlyMap<string, readonly CountedRequest[]>

const settings = {
  shared_buffers: '512MB',
  // No read-ahead and no autovacuum: pages that they read would count as pages of the request.
  effective_io_concurrency: '0',
  io_method: 'sync',
  autovacuum: 'off',
}
/** Number of requests that fill the caches of the API and its database sessions before the counted requests. */
const WARMING = 4

/**
 * Counts the pages that each kind of request touches, on a database with the given scale factor.
 * @param again if it returns true, runs ANALYZE and counts once more: new statistics may change plans.
 */
export async function countPages(
  { samples, only, ...options }: PageOptions,
  again: (counted: CountedKinds) => boolean = () => false,
): Promise<CountedKinds> {
  const kinds = pageKinds.filter(({ name }) => only === undefined || name.includes(only))
  if (kinds.length === 0) throw new Error(`no kind of request has ${only ?? ''} in its name`)
  // PostgreSQL 18 is the first version with a function that empties shared_buffers.
  const server = { ...newestServer, settings }
  const generated = await startGeneratedServer({ ...options, server }, (step) => {
    console.error(step)
  })
  const database = await connectDatabase(generated.address, { applicationName: 'bench' })
  try {
    const api = await startApiProcess(generated.address, 'assets,market', {}, { isCachingFragments: false })
    try {
      let counted = await countKinds(database, api.url, { kinds, samples })
      while (again(counted)) {
        await database.query('ANALYZE')
        counted = await countKinds(database, api.url, { kinds, samples })
      }
      return counted
    } finally {
      api.stop()
    }
  } finally {
    await database.end()
    await generated.stop()
  }
}

async function countKinds(
  database: pg.Client,
  url: string,
  { kinds, samples }: { readonly kinds: readonly PageKind[]; readonly samples: number },
): Promise<CountedKinds> {
  const meter = await PageMeter.open(database)
  const counted = new Map<string, CountedRequest[]>()
  for (const { name, pick } of kinds) {
    const addresses = await pick(database, samples + WARMING)
    for (const address of addresses.slice(0, WARMING)) await ask(url, address)
    const requests: CountedRequest[] = []
    for (const address of addresses.slice(WARMING)) {
      await meter.empty()
      const answer = await ask(url, address)
      requests.push({ address, ...answer, touched: await meter.read() })
    }
    counted.set(name, requests)
  }
  return counted
}

async function ask(url: string, address: string): Promise<{ status: number; rows: number }> {
  const answer = await fetch(new URL(address, url))
  const body = (await answer.json()) as { readonly data?: unknown }
  return { status: answer.status, rows: rowsOf(body.data) }
}

/**
 * Number of rows of an answer. For a list: its length. For a record: the sum of the lengths of its lists, at least 1.
 */
function rowsOf(data: unknown): number {
  if (Array.isArray(data)) return data.length
  const lists = Object.values(data ?? {}).filter((value) => Array.isArray(value))
  return Math.max(
    1,
    lists.reduce((sum, list) => sum + list.length, 0),
  )
}
