/**
 * Measures which requests use each index: the kinds of traffic, and the second tier (every list with a single filter
 * or sort). Writes `scripts/bench/index-use.json`, from which `docs/indexes.md` is generated.
 * Usage: node dist/scripts/bench/index-use.js --data FOLDER [--factor N] [--samples N] [--seed TEXT]
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { startApiProcess } from './api-server.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import { HttpClient } from './http-client.ts'
import { indexFamilies, listRequests, trafficRequests } from './index-requests.ts'
import { IndexScans } from './traffic/index.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    samples: { type: 'string', default: '20' },
  },
})
/** Prefix of the names of list requests with a single filter or sort. */
const LIST = 'list '
/** Maximum number of kinds of request, or of lists, that the report names for each index. */
const MOST_NAMED = 4

const server = await openGeneratedServer(options)
const database = await connectDatabase(server.address, { applicationName: 'bench' })
const api = await startApiProcess(server.address, indexFamilies.join(','))
try {
  const traffic = await trafficRequests(database, Number(options.samples))
  const lists = [...(await listRequests(database))].map(
    ([name, addresses]) => [LIST + name, addresses] as const,
  )
  const client = await HttpClient.open(api.url)
  const scans = new IndexScans(database, async () => {
    for (let session = 0; session < 12; session++) await client.get('/assets/v1/config')
  })
  await scans.begin()
  for (const [kind, addresses] of [...traffic, ...lists]) {
    for (const address of addresses) {
      await client.get(address)
    }
    await scans.take(kind)
  }
  client.close()
  const indexes = (await scans.list())
    .filter(({ isKey }) => !isKey)
    .map(({ name, bytesPerRow, kinds }) => {
      const users = Object.entries(kinds).sort(([, one], [, other]) => other - one)
      const ofTraffic = users.filter(([kind]) => !kind.startsWith(LIST))
      const scanned = ofTraffic.reduce((sum, [, count]) => sum + count, 0)
      const shown = (ofTraffic.length > 0 ? ofTraffic : users).map(([kind]) => kind.replace(LIST, ''))
      const named = { users: shown.slice(0, MOST_NAMED), moreUsers: Math.max(0, shown.length - MOST_NAMED) }
      return JSON.stringify({ name, bytesPerRow, scans: scanned, ...named })
    })
  const { factor, samples } = options
  const head = `"factor": ${JSON.stringify(factor)}, "samples": ${JSON.stringify(samples)}`
  const text = `{${head}, "indexes": [\n${indexes.join(',\n')}\n]}`
  await writeFile(join(packageRoot, 'scripts/bench/index-use.json'), `${text}\n`)
} finally {
  api.stop()
  await database.end()
  await server.stop()
}
