/**
 * Measures what uses each index: the kinds of traffic, and the second tier of requests (every list with a single filter or
 * sort). Writes `scripts/bench/index-use.json`, from which `docs/indexes.md` is generated. Usage:
 *   node dist/scripts/bench/index-use.js --data FOLDER [--factor N] [--samples N] [--seed TEXT]
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
/** Prefix of the names under which the second tier is counted. */
const LIST = 'list '
/** Most kinds and lists that are stored of an index. */
const MOST_USERS = 12

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
