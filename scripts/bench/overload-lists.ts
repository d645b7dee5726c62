/** List requests like ordinary traffic, for overload benchmarks. */
import { spawn } from 'node:child_process'
import { json } from 'node:stream/consumers'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { Load, LoadGenerator } from './load.ts'
import type { LoadOptions, LoadRequest } from './load.ts'
import type { MeasuredAnswer } from './http-client.ts'

/** Returns the value at a position of a list; after the last value the list begins again. */
export const pick = (from: readonly string[], at: number): string => from[at % from.length]!

/** A request of a numbered client. The API takes the client address from a header, as behind a proxy. */
export function requestOf(url: string, client: number): LoadRequest {
  const { pathname, search } = new URL(url)
  return { path: pathname + search, headers: [`X-Forwarded-For: 10.0.${client >> 8}.${client & 255}`] }
}

/** Ids and names from a generated database, and list requests with them. */
export interface OverloadLists {
  readonly assets: readonly string[]
  /**
   * List requests that come from `clients` clients in turn.
   * @param first number of the first client.
   */
  requests(clients: number, first?: number): () => LoadRequest
}

/** Sends requests over new connections, and closes the connections at the end. */
export async function sendLoad(url: string, connections: number, options: LoadOptions): Promise<Load> {
  const generator = await LoadGenerator.open(url, connections)
  try {
    return await generator.run(options)
  } finally {
    generator.close()
  }
}

/** Requests that another process sends at a fixed rate, repeatedly. */
export interface LoadApart {
  readonly url: string
  readonly connections: number
  readonly requests: readonly LoadRequest[]
  readonly perSecond: number
  readonly seconds: number
}

/** Lets another process send requests, so that the answers do not delay the measured times of this process. */
export async function sendLoadApart(load: LoadApart): Promise<Load> {
  const file = import.meta.filename.replace(/overload-lists\.(js|ts)$/, 'load-process.$1')
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(load))
  return new Load((await json(child.stdout)) as MeasuredAnswer[], load.seconds)
}

/**
 * Reads ids and names from a database.
 * @param url URL of the assets namespace of an API on that database.
 */
export async function readOverloadLists(address: DatabaseAddress, url: string): Promise<OverloadLists> {
  const client = await connectDatabase(address, { applicationName: 'overload' })
  const column = async (query: string): Promise<string[]> =>
    (await client.query<{ value: string }>(query)).rows.map(({ value }) => value)
  const assets = await column(
    'SELECT asset_id::text AS value FROM assets.assets ORDER BY md5(asset_id::text) LIMIT 5000',
  )
  const owners = await column('SELECT account AS value FROM assets.accounts ORDER BY md5(account) LIMIT 5000')
  const collections = await column('SELECT collection_name AS value FROM assets.collections')
  await client.end()
  const market = url.replace(/assets$/, 'market')
  /** URL of a list request, by its number. The URLs of the first thousand numbers are all different. */
  const listUrl = (at: number): string => {
    const page = 1 + (Math.floor(at / 40) % 5)
    const collection = pick(collections, at * 7)
    switch (at % 4) {
      case 0:
        return `${url}/v1/assets?owner=${pick(owners, at)}&sort=transferred&page=${page}`
      case 1:
        return `${url}/v1/assets?collection_name=${collection}&sort=updated&page=${page}&limit=${50 + (at % 50)}`
      case 2:
        return `${market}/v2/sales?state=1&collection_name=${collection}&sort=price&order=asc&page=${page}&limit=${40 + (at % 50)}`
      default:
        return `${url}/v1/transfers?account=${pick(owners, at)}&page=${page}`
    }
  }
  return {
    assets,
    requests(clients, first = 0) {
      let sent = 0
      return () => {
        const at = sent++
        return requestOf(listUrl(at), first + (at % clients))
      }
    },
  }
}
