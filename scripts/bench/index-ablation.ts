/**
 * Measures what each query index gains: the requests that use it, by `scripts/bench/index-use.json`, with and without it.
 * Usage:
 *   node dist/scripts/bench/index-ablation.js [--data FOLDER | --server ADDRESS] [--factor N] [--samples N] [--only NAME]
 * An index is switched off by `pg_index.indisvalid`, so that no plan has it. What uses it are kinds of traffic, or, where none
 * of them loses, requests of the second tier. The one that loses most is written into `scripts/bench/index-ablation.json`,
 * from which `docs/indexes.md` is generated. --only measures the indexes of which the name contains a text; the others keep
 * what was measured before.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { ABLATED, readAblatedIndexes, readDeclaredIndexes, readMeasuredIndexes } from '../indexes-page.ts'
import type { AblatedIndex, DeclaredIndex } from '../indexes-page.ts'
import { startApiProcess } from './api-server.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { indexFamilies, listRequests, trafficRequests } from './index-requests.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    samples: { type: 'string', default: '8' },
    only: { type: 'string' },
  },
})
/** A faster request gains nothing that anybody notices, and its time is mostly noise. */
const LEAST_MS = 5
/** A slower request is not sent a second time. */
const SLOW_MS = 500
/** After requests of this many ms without the index no further ones are sent: that it is needed is shown. */
const ENOUGH_MS = 10_000
/** What a loss is: a fifth. */
const LEAST_LOSS = 1.2

/** A request by its address; its name is that of its kind, or the address. */
interface Request {
  readonly name: string
  readonly address: string
}

/** ms of each address with every index, as measured first. */
const usual = new Map<string, number>()
const declared = [...readDeclaredIndexes()].flatMap(([family, indexes]) =>
  indexFamilies.includes(family) ? indexes : [],
)
const server = await openGeneratedServer(options)
const database = await connectDatabase(server.address, { applicationName: 'bench' })
const api = await startApiProcess(server.address, indexFamilies.join(','))
try {
  const traffic = await trafficRequests(database, Number(options.samples))
  const lists = await listRequests(database)
  const used = readMeasuredIndexes()
  const results = readAblatedIndexes()
  for (const index of declared.filter(({ name }) => name.includes(options.only ?? ''))) {
    const use = used.get(index.name)
    if (!use) continue
    const ofTraffic = use.kinds.flatMap((name) => named(name, traffic.get(name) ?? []))
    // All requests of a list, of which few use the index.
    const ofLists = use.lists.flatMap((name) =>
      (lists.get(name) ?? []).flatMap((each) => named(each, [each])),
    )
    const client = await HttpClient.open(api.url)
    let result = await ablate(client, index, ofTraffic)
    if (result.request === '') result = await ablate(client, index, ofLists)
    client.close()
    results.set(index.name, result)
    await store(results)
    const { request, withMs, withoutMs } = result
    const times = [withMs, withoutMs, withoutMs / withMs].map((each) => each.toFixed(1))
    console.log([index.name, ...(request === '' ? ['none'] : [...times, request])].join('\t'))
  }
} finally {
  api.stop()
  await database.end()
  await server.stop()
}

function named(name: string, addresses: readonly string[]): Request[] {
  return addresses.map((address) => ({ name, address }))
}

/** Writes what is known of the declared indexes, times with one decimal place. */
async function store(results: ReadonlyMap<string, AblatedIndex>): Promise<void> {
  const rounded = (ms: number): number => Number(ms.toFixed(1))
  const indexes = declared
    .flatMap(({ name }) => results.get(name) ?? [])
    .map((each) => ({ ...each, withMs: rounded(each.withMs), withoutMs: rounded(each.withoutMs) }))
  await writeFile(join(packageRoot, ABLATED), `${JSON.stringify({ indexes }, null, 1)}\n`)
}

/** The request that loses most without an index: by the factor of its time. */
async function ablate(
  client: HttpClient,
  index: DeclaredIndex,
  requests: readonly Request[],
): Promise<AblatedIndex> {
  for (const { address } of requests) {
    if (!usual.has(address)) usual.set(address, await fasterOfTwo(client, address))
  }
  const losing: { readonly request: Request; readonly withoutMs: number }[] = []
  let sum = 0
  await setValid(index, false)
  try {
    for (const request of requests) {
      const withMs = usual.get(request.address)!
      if (sum > ENOUGH_MS) break
      const { ms } = await client.get(request.address)
      sum += ms
      if (!isLoss(withMs, ms)) continue
      // What is slow by chance is not slow again.
      const withoutMs = await fasterOfTwo(client, request.address)
      if (isLoss(withMs, withoutMs)) losing.push({ request, withoutMs })
    }
  } finally {
    await setValid(index, true)
  }
  let worst: AblatedIndex = { name: index.name, request: '', withMs: 1, withoutMs: LEAST_LOSS }
  for (const { request, withoutMs } of losing) {
    const withMs = Math.max(usual.get(request.address)!, await fasterOfTwo(client, request.address))
    if (withoutMs / withMs <= worst.withoutMs / worst.withMs) continue
    worst = { name: index.name, request: request.name, withMs, withoutMs }
  }
  return worst
}

function isLoss(withMs: number, withoutMs: number): boolean {
  return withoutMs >= LEAST_MS && withoutMs / withMs > LEAST_LOSS
}

/** ms of a request; one that is slow is sent only once. */
async function fasterOfTwo(client: HttpClient, address: string): Promise<number> {
  const { ms } = await client.get(address)
  return ms > SLOW_MS ? ms : Math.min(ms, (await client.get(address)).ms)
}

/** Switches an index and its partitions on or off for the plans of every session. */
async function setValid({ name, table }: DeclaredIndex, isValid: boolean): Promise<void> {
  await database.query(
    `UPDATE pg_index SET indisvalid = $2 WHERE indexrelid = $1::regclass
      OR indexrelid IN (SELECT relid FROM pg_partition_tree($1::regclass))`,
    [name, isValid],
  )
  // A change of the table's own row has its plans made anew.
  await database.query(
    `UPDATE pg_class SET relname = relname WHERE oid = $1::regclass
      OR oid IN (SELECT relid FROM pg_partition_tree($1::regclass))`,
    [table],
  )
}
