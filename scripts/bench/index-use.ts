/**
 * Measures what uses each index: the kinds of traffic, and the second tier of requests (every list with a single filter or
 * sort). Writes `scripts/bench/index-use.json`, from which `docs/indexes.md` is generated. Usage:
 *   node dist/scripts/bench/index-use.js --data FOLDER [--factor N] [--samples N] [--seed TEXT]
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createNamespace } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { startApiProcess } from './api-server.ts'
import { COMMIT } from './commits.ts'
import { benchNamespaces } from './families.ts'
import { Random } from './generated/choice.ts'
import { openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { addressOf, fewerCases, pickExamples, requestCases } from './requests/index.ts'
import { IndexScans, trafficKinds, TrafficRows } from './traffic/index.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    server: { type: 'string' },
    seed: { type: 'string', default: 'pronghorn' },
    factor: { type: 'string', default: '1' },
    samples: { type: 'string', default: '20' },
  },
})
const FAMILIES = ['assets', 'market']
/** Prefix of the names under which the second tier is counted. */
const LIST = 'list '
/** Most kinds and lists that are stored of an index. */
const MOST_USERS = 12

const server = await openGeneratedServer(options)
const database = await connectDatabase(server.address, { applicationName: 'bench' })
const api = await startApiProcess(server.address, FAMILIES.join(','))
try {
  const traffic = await trafficAddresses()
  const lists = await listAddresses()
  const client = await HttpClient.open(api.url)
  const scans = new IndexScans(database, async () => {
    for (let session = 0; session < 12; session++) await client.get('/assets/v1/config')
  })
  await scans.begin()
  for (const [kind, addresses] of [...traffic, ...lists]) {
    for (const address of addresses) {
      await database.query(COMMIT)
      await client.get(address)
    }
    await scans.take(kind)
  }
  client.close()
  const indexes = (await scans.list()).map(({ name, bytesPerRow, kinds }) => {
    const users = Object.entries(kinds).sort(([, one], [, other]) => other - one)
    const ofTraffic = users.filter(([kind]) => !kind.startsWith(LIST))
    return {
      name,
      bytesPerRow,
      scans: ofTraffic.reduce((sum, [, count]) => sum + count, 0),
      kinds: ofTraffic.map(([kind]) => kind).slice(0, MOST_USERS),
      lists: users
        .filter(([kind]) => kind.startsWith(LIST))
        .map(([kind]) => kind.slice(LIST.length))
        .slice(0, MOST_USERS),
    }
  })
  const { factor, samples } = options
  const text = JSON.stringify({ factor, samples, indexes }, null, 1)
  await writeFile(join(packageRoot, 'scripts/bench/index-use.json'), `${text}\n`)
} finally {
  api.stop()
  await database.end()
  await server.stop()
}

async function trafficAddresses(): Promise<[string, string[]][]> {
  const all: [string, string[]][] = []
  for (const kind of trafficKinds) {
    const rows = await TrafficRows.open(database, new Random(`index use ${kind.name}`))
    const addresses: string[] = []
    for (let at = 0; at < Number(options.samples); at++) addresses.push(await kind.address(rows, at))
    all.push([kind.name, addresses])
  }
  return all
}

/** The second tier by path: every sort, and every single filter. */
async function listAddresses(): Promise<[string, string[]][]> {
  const examples = await pickExamples(database)
  const all = new Map<string, string[]>()
  for (const family of FAMILIES) {
    const { config } = parseConfig({ server: { namespaces: benchNamespaces(family) } })
    const endpoints = config.server.namespaces.flatMap(
      (entry) => createNamespace(entry, { trigrams: true })?.endpoints ?? [],
    )
    for (const request of fewerCases(requestCases(endpoints, examples))) {
      const name = `${LIST}${family} ${request.endpoint.path}`
      all.set(name, [...(all.get(name) ?? []), `/${family}${addressOf(request)}`])
    }
  }
  return [...all]
}
