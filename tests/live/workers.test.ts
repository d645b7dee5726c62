import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { openRedisStore } from '../../services/core/kvstore/redis-store.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { generateRows } from '../api/generated-rows.ts'
import { apiConfig, quiet } from '../api/server.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { StreamClient, until, WebsocketClient } from './clients.ts'
import { followRandomly } from './following.ts'
import { assetId } from './live-server.ts'
import { generations, SocketClient } from './socket-io-clients.ts'
import { WrittenFeed } from './written-feed.ts'

const WORKERS = 3

describeWithRedis('live data of several processes', () => {
  let database: TestDatabase
  let redis: TestRedis
  let kvstore: KeyValueStore
  let feed: WrittenFeed
  let directory: string
  let api: ChildProcess
  let url: string
  let output = ''
  let nextBlock = 1_000
  const opened: { close(): void }[] = []

  beforeAll(async () => {
    database = await createTestDatabase()
    redis = await startTestRedis()
    directory = await mkdtemp(join(tmpdir(), 'pronghorn-live-'))
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    await generateRows(client, {
      ...{ collections: 2, schemasPerCollection: 1, templates: 2, assets: 20, owners: 2 },
      ...{ offers: 2, transfers: 4 },
    })
    await client.end()
    const address = { host: '127.0.0.1', port: redis.port }
    kvstore = await openRedisStore({
      address: { ...address, tls: false, connection_type: 'standalone' },
      prefix: 'pronghorn:test:',
      logger: quiet,
    })
    feed = await WrittenFeed.open(database.address, kvstore)
    const port = await findFreePort()
    const { connections, server } = apiConfig(database.address, {
      namespaces: [
        {
          name: 'assets',
          path: '/assets',
          args: { assets_account: 'atomicassets', connected_reader: feed.reader },
        },
      ],
    })
    await writeFile(
      join(directory, 'connections.config.json'),
      JSON.stringify({ ...connections, kvstore: address }),
    )
    await writeFile(join(directory, 'server.config.json'), JSON.stringify({ ...server, server_port: port }))
    url = `http://127.0.0.1:${port}`
    await start()
  })
  afterAll(async () => {
    for (const client of opened) client.close()
    await kill()
    await feed.close()
    await kvstore.close()
    await redis.stop()
    await database.drop()
    await rm(directory, { recursive: true })
  })

  /** Starts the API processes and waits until each serves. */
  async function start(): Promise<void> {
    output = ''
    api = spawn(process.execPath, [join(packageRoot, 'dist/services/cli/main.js'), 'api'], {
      env: { CONFIG_DIR: directory, API_WORKERS: String(WORKERS) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [api.stdout, api.stderr]) {
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
    }
    await until(
      () => output.split('a worker serves requests').length > WORKERS || api.exitCode !== null,
      () => output,
    )
  }

  async function kill(): Promise<void> {
    if (api.exitCode !== null || api.signalCode !== null) return
    const ended = once(api, 'exit')
    api.kill('SIGKILL')
    await ended
  }

  it('clients with two to ten subscriptions lose no event and get none twice while all API processes are killed and the chain forks', async () => {
    let kills = 0
    const restart = async (): Promise<void> => {
      await kill()
      kills++
      await start()
    }
    nextBlock = await followRandomly({ feed, url: `${url}/assets/v1/live`, nextBlock, seed: 11, restart })
    expect(kills).toBe(4)
  })

  it('several API processes keep the requests of a socket.io session on one process, send every event to every client, and announce a stop', async () => {
    const options = generations.flatMap((generation) => [
      { generation },
      { generation, transports: ['polling'] as const },
      { generation, transports: ['websocket'] as const },
    ])
    // Enough clients of each kind: every API process gets some of them, and the requests of one polling session reach
    // different processes.
    const all = [...options, ...options]
    const sockets = all.map((each) => new SocketClient(`${url}/assets/v1/assets`, each))
    const websockets = await Promise.all(
      Array.from({ length: 4 }, () => WebsocketClient.open(`${url}/assets/v1/live`)),
    )
    const streams = Array.from({ length: 2 }, () => new StreamClient(`${url}/assets/v1/events`))
    opened.push(...sockets, ...websockets, ...streams)
    await Promise.all(sockets.map((client) => client.untilConnected()))
    expect(sockets.flatMap(({ refusals }) => refusals)).toEqual([])
    await Promise.all(websockets.map((client) => client.subscribe()))
    await Promise.all(streams.map((client) => client.received('subscribed', 1)))
    const blocks = [0, 1, 2].map((at) => nextBlock + at)
    for (const [at, block] of blocks.entries())
      await feed.block(block, [{ action: 'logmint', id: assetId(at + 3) }])
    for (const client of [...websockets, ...streams]) {
      expect((await client.received('event', 3)).map(({ block }) => block?.num)).toEqual(blocks)
    }
    for (const client of sockets) {
      const events = await client.received(3)
      expect(events.map(({ payload }) => payload.block?.block_num)).toEqual(blocks)
    }

    const ended = once(api, 'exit')
    api.kill('SIGTERM')
    for (const client of websockets) {
      expect((await client.untilClosed()).code).toBe(1001)
      expect((await client.received('error', 1))[0]!.code).toBe('STOPPING')
    }
    for (const client of streams) expect((await client.received('error', 1))[0]!.code).toBe('STOPPING')
    for (const [place, client] of sockets.entries()) {
      await until(
        () => client.events.some(({ name }) => name === 'notice'),
        () => `no notice for ${JSON.stringify(all[place])}: ${client.disconnects.join()}`,
      )
      expect(client.events.at(-1)).toMatchObject({ name: 'notice', payload: { code: 'STOPPING' } })
    }
    expect(await ended).toEqual([0, null])
  })
})
