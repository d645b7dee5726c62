import type { RunningApi } from '../../services/api/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { importDatabase, importState } from '../../services/filler/import/index.ts'
import { serveEverything } from '../api/server.ts'
import { cutMainAt } from '../import/cut-recording.ts'
import { restoreOldDatabase } from '../import/old-database.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

/**
 * Source of the data of a database. `blocks`: all blocks in one catch-up. `live`: each block when it is produced.
 * `import`: a database of the replaced system, then blocks. `import-state`: the tables of a chain node, then blocks.
 */
export type DataPath = 'blocks' | 'live' | 'import' | 'import-state'

/** A running api on a filled database. */
export interface ServedPath {
  readonly url: string
  close(): Promise<void>
}

/** Last block of the recordings `main` and `v2`. */
const LAST_BLOCK = 964
/** Block at which the import reads the tables of the node. */
const STATE_BLOCK = 842

const recordings = ['main', 'v2']
const logger = createLogger({ name: 'test', level: 'silent', pretty: true })
const signal = new AbortController().signal

const fillers: Readonly<Record<Exclude<DataPath, 'blocks'>, (database: TestDatabase) => Promise<void>>> = {
  live: (database) =>
    onChain({ recordings, replay: 'recorded' }, (chain) => indexUntil(chain, database.address, LAST_BLOCK)),
  import: async (database) => {
    const old = await restoreOldDatabase()
    try {
      await onChain({ recordings }, async (chain) => {
        await importDatabase({
          source: old.address,
          database: database.address,
          chain: { chainId: chain.chain.chainId, http: chain.httpUrl },
          settings: testSettings,
          workers: 2,
          logger,
          signal,
          windowMs: 60_000,
        })
        await indexUntil(chain, database.address, LAST_BLOCK)
      })
    } finally {
      await old.drop()
    }
  },
  'import-state': async (database) => {
    const past = await cutMainAt(STATE_BLOCK)
    try {
      await onChain({ recordings }, (chain) =>
        onChain({ recordings: [past.folder] }, async ({ httpUrl }) => {
          await importState({
            database: database.address,
            chain: { chainId: chain.chain.chainId, http: httpUrl, ship: [chain.shipUrl] },
            settings: testSettings,
            atOnce: 4,
            startOver: false,
            logger,
            signal,
          })
          await indexUntil(chain, database.address, LAST_BLOCK)
        }),
      )
    } finally {
      await past.remove()
    }
  },
}

async function onChain(
  options: Parameters<typeof startChain>[0],
  work: (chain: TestChain) => Promise<void>,
): Promise<void> {
  const chain = await startChain(options)
  try {
    await work(chain)
  } finally {
    await chain.chain.stop()
  }
}

/** Fills a database with the recorded chain from the given source, and starts an api with every family. */
export async function servePath(path: DataPath): Promise<ServedPath> {
  // Other suites use the database that is indexed from all blocks, too: it is indexed once, and each suite gets a copy.
  const database = await (path === 'blocks'
    ? createIndexedDatabase({ chain: { recordings } })
    : createTestDatabase())
  let api: RunningApi
  try {
    if (path !== 'blocks') await fillers[path](database)
    api = await serveEverything(database.address)
  } catch (error) {
    await database.drop()
    throw error
  }
  return {
    url: api.url,
    async close() {
      await api.close()
      await database.drop()
    },
  }
}
