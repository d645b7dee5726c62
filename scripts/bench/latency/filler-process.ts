/**
 * The filler of `bench/latency` and `bench/reader`. Usage: filler-process.js SETTING. Sends the number of committed
 * blocks after each commit.
 */
import { openKeyValueStore } from '../../../services/core/kvstore/index.ts'
import { createLogger } from '../../../services/core/log/index.ts'
import { runReader } from '../../../services/filler/index.ts'
import { assetsContract, marketContracts, readerSettings } from '../reader-settings.ts'
import { sharedNow } from './messages.ts'
import type { FillerMessage, LatencySetting } from './messages.ts'

const { database, chain, redis, reader } = JSON.parse(process.argv[2]!) as LatencySetting
const logger = createLogger({ name: 'bench', level: 'error', pretty: true })
const store =
  redis &&
  (await openKeyValueStore({ ...redis, tls: false, connection_type: 'standalone' }, 'devchain', logger))
let committed = 0
process.on('disconnect', () => process.exit(0))
await runReader(
  {
    settings: readerSettings({
      name: reader,
      ship_prefetch_blocks: 50,
      ship_min_block_confirmation: 10,
      contracts: [assetsContract, ...marketContracts],
    }),
    database,
    chain: { ...chain, ship: [chain.ship] },
    logger,
    ...(store && { send: (channel, text) => void store.publish(channel, text) }),
    observer: {
      committed: ({ blocks }) => {
        committed += blocks
        process.send?.({ committed, atMs: sharedNow() } satisfies FillerMessage)
      },
      rolledBack: () => undefined,
      interrupted: () => undefined,
      published: () => undefined,
    },
  },
  new AbortController().signal,
)
