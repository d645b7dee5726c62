/**
 * Requests for measuring index use: the kinds of request of the traffic benchmark, and every list with a single filter
 * or sort.
 */
import type pg from 'pg'
import { createNamespace } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { benchNamespaces } from './families.ts'
import { Random } from './generated/choice.ts'
import { addressOf, fewerCases, pickExamples, requestCases } from './requests/index.ts'
import { trafficKinds, TrafficRows } from './traffic/index.ts'

/** Contract families whose indexes are measured. */
export const indexFamilies: readonly string[] = ['assets', 'market']

/** URLs by kind of request or by list. */
export type IndexRequests = ReadonlyMap<string, readonly string[]>

/**
 * URLs of each kind of request of the traffic benchmark.
 * @param samples number of URLs for each kind of request.
 */
export async function trafficRequests(database: pg.Client, samples: number): Promise<IndexRequests> {
  const all = new Map<string, string[]>()
  for (const kind of trafficKinds) {
    const rows = await TrafficRows.open(database, new Random(`index use ${kind.name}`))
    const addresses: string[] = []
    for (let at = 0; at < samples; at++) addresses.push(await kind.address(rows, at))
    all.set(kind.name, addresses)
  }
  return all
}

/** URLs of every list with each sort and each single filter, by family and path. */
export async function listRequests(database: pg.Client): Promise<IndexRequests> {
  const examples = await pickExamples(database)
  const all = new Map<string, string[]>()
  for (const family of indexFamilies) {
    const { config } = parseConfig({ server: { namespaces: benchNamespaces(family) } })
    const endpoints = config.server.namespaces.flatMap(
      (entry) => createNamespace(entry, { trigrams: true })?.endpoints ?? [],
    )
    for (const request of fewerCases(requestCases(endpoints, examples))) {
      const name = `${family} ${request.endpoint.path}`
      all.set(name, [...(all.get(name) ?? []), `/${family}${addressOf(request)}`])
    }
  }
  return all
}
