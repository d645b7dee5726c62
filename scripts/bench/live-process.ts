/**
 * The API of a live data benchmark, as a separate process.
 * Usage: live-process.js ADDRESS CHAIN_ID
 * ADDRESS is the address of the database, as JSON. Sends `{ url }`. On the message `{ block, assets }` the process acts
 * as the filler: commits a feed entry with one event for each asset, publishes the entry, and sends `{ committedMs }`,
 * the time of the commit.
 */
import { startApi } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import { encodeFeedMessage, feedChannel } from '../../services/core/feed/index.ts'
import { packFeedText } from '../../services/core/feed-reader/index.ts'
import type { FeedBlock } from '../../services/core/feed/index.ts'
import { createLogger } from '../../services/core/log/index.ts'

/** Message from the benchmark to the API's process: number of a block, and ids of the assets that the block updates. */
export interface WantedBlock {
  readonly block: number
  readonly assets: readonly string[]
}

/** Messages that the API's process sends to the benchmark. */
export type LiveProcessMessage = { readonly url: string } | { readonly committedMs: number }

const READER = 'bench-1'
const CONTRACT = 'atomicassets'
const MANY = 100_000
const EPOCH = 1

const [given = '', chainId] = process.argv.slice(2)
const address = JSON.parse(given) as DatabaseAddress
const logger = createLogger({ name: 'bench', level: 'error', pretty: true })
const kvstore = createMemoryStore(logger)
const client = await connectDatabase(address, { applicationName: 'bench feed' })
await client.query('DELETE FROM chain.feed WHERE reader = $1', [READER])
await client.query(
  `INSERT INTO chain.feeds VALUES ($1, $2, 0, 0, 0)
   ON CONFLICT (reader) DO UPDATE SET epoch = $2, sequence = 0, pruned_to = 0, told_to = 0`,
  [READER, EPOCH],
)
const { config } = parseConfig({
  connections: {
    sqldb: { ...address },
    chain: { name: 'generated', chain_id: chainId, http: 'http://127.0.0.1:9', ship: 'ws://127.0.0.1:9' },
  },
  server: {
    server_addr: '127.0.0.1',
    trust_proxy: true,
    live: { max_connections: MANY, connections_per_address: MANY },
    namespaces: [
      { name: 'assets', path: '/assets', args: { assets_account: CONTRACT, connected_reader: READER } },
    ],
  },
})
const api = await startApi({
  config: { connections: config.connections, server: { ...config.server, server_port: 0 } },
  logger,
  kvstore,
})

let sequence = 0
process.on('message', (wanted: WantedBlock) => void publish(wanted))
process.on('disconnect', () => process.exit(0))
say({ url: api.url })

async function publish(wanted: WantedBlock): Promise<void> {
  const entry = makeBlock(wanted)
  const text = encodeFeedMessage(entry)
  await client.query('BEGIN')
  await client.query('INSERT INTO chain.feed VALUES ($1, $2, $3, $4, $5, $6)', [
    ...[
      READER,
      entry.sequence,
      'block',
      wanted.block,
      Buffer.from(entry.block.id, 'hex'),
      packFeedText(text),
    ],
  ])
  await client.query('UPDATE chain.feeds SET sequence = $2, told_to = $3 WHERE reader = $1', [
    ...[READER, entry.sequence, wanted.block],
  ])
  await client.query('COMMIT')
  say({ committedMs: performance.timeOrigin + performance.now() })
  await kvstore.publish(feedChannel(READER), text)
}

/** Builds a block with ten events per transaction. */
function makeBlock({ block, assets }: WantedBlock): FeedBlock {
  const id = (number: number): string => number.toString(16).padStart(64, '0')
  const perTransaction = 10
  const count = Math.ceil(assets.length / perTransaction)
  return {
    kind: 'block',
    reader: READER,
    epoch: EPOCH,
    sequence: String(++sequence),
    block: { num: block, id: id(block), time: Date.now(), producer: 'producer1' },
    transactions: Array.from({ length: count }, (_, at) => ({
      id: id(block * 1_000 + at),
      cpu_usage_us: 100,
      net_usage_words: 10,
      traces: assets.slice(at * perTransaction, (at + 1) * perTransaction).map((asset, index) => ({
        action_ordinal: index + 1,
        creator_action_ordinal: 0,
        global_sequence: String(block * 10_000 + at * perTransaction + index),
        account: CONTRACT,
        name: 'logsetdata',
        authorization: [{ actor: CONTRACT, permission: 'active' }],
        data: { asset_owner: 'someone', asset_id: asset, old_data: [], new_data: [] },
      })),
    })),
    events: assets.map((asset, at) => ({
      contract: CONTRACT,
      family: 'assets',
      event: 'asset_updated',
      id: asset,
      transaction: Math.floor(at / perTransaction),
      trace: at % perTransaction,
      keys: { assets: [asset] },
    })),
  }
}

function say(message: LiveProcessMessage): void {
  process.send?.(message)
}
