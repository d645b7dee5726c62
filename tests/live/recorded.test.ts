import { afterEach, expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import { ask, quiet } from '../api/server.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import { generations, SocketClient } from './socket-io-clients.ts'
import { openFeedReader, readEntries, survivingBlocks } from './published.ts'

/** Block of the recordings whose action backs an asset with tokens. */
const BACKED_IN = 832
const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

it('on a recorded chain, the live server publishes an event when an asset is backed with tokens', async () => {
  const database = await createTestDatabase()
  closing.push(() => database.drop())
  const running = await startChain({ recordings: ['main', 'v2'], replay: 'recorded' })
  closing.push(() => running.chain.stop())
  const kvstore = createMemoryStore(quiet)
  const { config } = parseConfig({
    connections: {
      sqldb: { ...database.address },
      chain: { name: 'test', chain_id: running.chain.chainId, http: running.httpUrl, ship: running.shipUrl },
    },
    server: {
      server_addr: '127.0.0.1',
      namespaces: [
        {
          name: 'assets',
          path: '/assets',
          args: { connected_reader: testSettings.name, assets_account: 'atomicassets' },
        },
      ],
    },
  })
  const api = await startApi({
    config: { connections: config.connections, server: { ...config.server, server_port: 0 } },
    logger: quiet,
    kvstore,
  })
  closing.push(() => api.close())
  const clients = generations.map(
    (generation) => new SocketClient(`${api.url}/assets/v1/assets`, { generation }),
  )
  closing.push(...clients.map((client) => () => client.close()))
  await Promise.all(clients.map((client) => client.untilConnected()))
  const feed = await openFeedReader(database.address)
  closing.push(() => feed.close())
  await indexUntil(running, database.address, BACKED_IN, {
    options: { send: (channel, text) => void kvstore.publish(channel, text) },
  })

  const received = survivingBlocks(await readEntries(feed.query)).flatMap(({ events }) => events)
  const backed = received.filter(({ event }) => event === 'asset_backed').map(({ id }) => id)
  expect(backed.length).toBeGreaterThan(0)
  const spoken = new Set(['asset_minted', 'asset_burned', 'asset_backed', 'asset_updated'])
  const count = received.filter(({ event }) => spoken.has(event)).length
  for (const client of clients) {
    const events = (await client.received(count)).filter(({ name }) => name === 'back')
    expect(events.map(({ payload }) => payload.asset_id)).toEqual(backed)
    for (const { payload } of events) {
      const { body } = await ask(`${api.url}/assets/v1/assets/${String(payload.asset_id)}`)
      expect(payload.trace!.act.name).toBe('logbackasset')
      expect(payload.block!.block_num).toBe(BACKED_IN)
      expect(payload.asset).toEqual(body.data)
      expect(payload.asset).toMatchObject({ backed_tokens: [{ token_symbol: 'WAX' }] })
    }
  }
})
