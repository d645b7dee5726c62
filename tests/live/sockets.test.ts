import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assetId, startLiveServer } from './live-server.ts'
import type { LiveServer } from './live-server.ts'
import { generations, SocketClient } from './socket-io-clients.ts'
import type { SocketOptions } from './socket-io-clients.ts'

describe('socket.io', () => {
  let server: LiveServer
  const opened: SocketClient[] = []
  let nextBlock = 100

  beforeAll(async () => {
    server = await startLiveServer()
  })
  afterAll(async () => {
    for (const client of opened) client.close()
    await server.close()
  })

  function connect(namespace: string, options: SocketOptions): SocketClient {
    const client = new SocketClient(server.api.url + namespace, options)
    opened.push(client)
    return client
  }

  describe.each(generations)('client library of generation %i', (generation) => {
    it.each([
      ['with the default transports', undefined],
      ['by websocket alone', ['websocket']],
      ['by polling alone', ['polling']],
    ] as const)(
      'a socket.io client connects %s and receives assets, offers and transfers',
      async (_how, transports) => {
        const options = transports ? { generation, transports } : { generation }
        const names = ['/assets/v1/assets', '/atomicassets/v1/offers', '/assets/v1/transfers', '/']
        const clients = names.map((name) => connect(name, options))
        await Promise.all(clients.map((client) => client.untilConnected()))
        const [assets, offers, transfers, none] = clients as [
          SocketClient,
          SocketClient,
          SocketClient,
          SocketClient,
        ]
        const block = nextBlock++
        await server.feed.block(block, [
          { action: 'logmint', id: assetId(3), data: { asset_id: assetId(3) } },
          { action: 'logtransfer', id: '17' },
          { action: 'lognewoffer', id: '4' },
          { action: 'logsetdata', id: assetId(4) },
          { action: 'logbackasset', id: assetId(5) },
        ])
        await server.feed.fork(block)
        const eventNames = ['new_asset', 'update', 'back', 'fork']
        expect((await assets.received(4)).map(({ name }) => name)).toEqual(eventNames)
        expect((await offers.received(3)).map(({ name }) => name)).toEqual(['new_transfer', 'create', 'fork'])
        expect((await transfers.received(2)).map(({ name }) => name)).toEqual(['new_transfer', 'fork'])
        expect(none.events).toEqual([])
        const { payload } = assets.events[0]!
        expect(payload.asset).toEqual(await server.data(`/assets/v1/assets/${assetId(3)}`))
        expect(offers.events[1]!.payload.offer).toEqual(await server.data('/assets/v1/offers/4'))
        expect(assets.events[3]!.payload).toEqual({ block_num: block })
        for (const client of clients) client.close()
      },
    )

    it('a socket.io client is refused in unknown namespaces', async () => {
      for (const name of ['/assets', '/assets/v1/nothing', '/tools/v1/links']) {
        expect(await connect(name, { generation }).untilRefused()).toBe('Invalid namespace')
      }
    })
  })

  it('socket.io serves the client script, and does not compress it for each request', async () => {
    const headers = { 'Accept-Encoding': 'br, gzip, deflate' }
    const response = await fetch(`${server.api.url}/socket.io/socket.io.js`, { headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(response.headers.get('content-type')).toContain('javascript')
    expect(await response.text()).toContain('Socket.IO v4')
  })
})
