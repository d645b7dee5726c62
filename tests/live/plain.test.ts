import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StreamClient, WebsocketClient } from './clients.ts'
import { assetId, startLiveServer } from './live-server.ts'
import type { LiveServer } from './live-server.ts'

describe('websocket and event stream', () => {
  let server: LiveServer
  const opened: { close(): void }[] = []

  beforeAll(async () => {
    server = await startLiveServer()
  })
  afterAll(async () => {
    for (const client of opened) client.close()
    await server.close()
  })

  async function connect(path = '/assets/v1/live'): Promise<WebsocketClient> {
    const client = await WebsocketClient.open(server.api.url + path)
    opened.push(client)
    return client
  }

  function stream(query = ''): StreamClient {
    const client = new StreamClient(`${server.api.url}/assets/v1/events${query}`)
    opened.push(client)
    return client
  }

  it('tells of events in the order of the chain, with the record as REST answers it', async () => {
    const client = await connect()
    const listening = stream()
    await client.subscribe()
    await listening.received('subscribed', 1)
    await server.feed.block(100, [
      { action: 'logmint', id: assetId(3) },
      { action: 'lognewoffer', id: '4' },
      { action: 'logburnasset', id: assetId(20) },
    ])
    const events = await client.received('event', 3)
    expect(events.map(({ event }) => event)).toEqual(['asset_minted', 'offer_created', 'asset_burned'])
    expect(events[0]!.record).toEqual(await server.data(`/assets/v1/assets/${assetId(3)}`))
    expect(events[1]!.record).toEqual(await server.data('/assets/v1/offers/4'))
    expect(await listening.received('event', 3)).toEqual(events)
  })
})
