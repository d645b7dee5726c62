import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { until, WebsocketClient } from './clients.ts'
import { assetId, startLiveServer } from './live-server.ts'
import type { LiveServer } from './live-server.ts'
import { problemsOf } from './message-schemas.ts'
import { SocketClient } from './socket-io-clients.ts'

describe('limits of live data', () => {
  let server: LiveServer
  let nextBlock = 100
  const opened: { close(): void }[] = []

  beforeAll(async () => {
    server = await startLiveServer({ live: { messages_per_second: 1_000 } })
    const client = await connectDatabase(server.database.address, { applicationName: 'test' })
    // Three assets whose attributes are too long for a message, and an offer that contains all of them.
    await client.query(
      `UPDATE assets.assets SET mutable_data = jsonb_build_object('text', repeat('x', 2000000)) WHERE asset_id = ANY($1)`,
      [[1, 2, 3].map(assetId)],
    )
    await client.query('UPDATE assets.offers SET sender_asset_ids = $1 WHERE offer_id = 3', [
      [1, 2, 3].map(assetId),
    ])
    await client.end()
  })
  afterEach(() => {
    for (const client of opened.splice(0)) client.close()
  })
  afterAll(() => server.close())

  async function connect(): Promise<WebsocketClient> {
    const client = await WebsocketClient.open(`${server.api.url}/assets/v1/live`)
    opened.push(client)
    return client
  }

  it('a record too large for a message is omitted from its event, and the connection stays open', async () => {
    const client = await connect()
    await client.subscribe()
    const socket = new SocketClient(`${server.api.url}/assets/v1/assets`, { generation: 4 })
    opened.push(socket)
    await socket.untilConnected()
    await server.feed.block(nextBlock++, [
      { action: 'logmint', id: assetId(1) },
      { action: 'lognewoffer', id: '3' },
      { action: 'logmint', id: assetId(50) },
    ])
    const events = await client.received('event', 3)
    for (const each of events) expect(problemsOf(each)).toBe('')
    expect(events[0]).toMatchObject({
      ...{ event: 'asset_minted', id: assetId(1), record: null, too_large: true },
      path: `/assets/v1/assets/${assetId(1)}`,
    })
    expect(events[1]).toMatchObject({ id: '3', record: null, too_large: true, path: '/assets/v1/offers/3' })
    expect(events[2]).not.toHaveProperty('too_large')
    expect(events[2]!.record).toEqual(await server.data(`/assets/v1/assets/${assetId(50)}`))
    const path = events[0]!.path as string
    expect(await server.data(path)).toMatchObject({ asset_id: assetId(1) })
    const [large, small] = await socket.received(2)
    expect(large!.payload).toMatchObject({ asset_id: assetId(1), too_large: true, path })
    expect(large!.payload).not.toHaveProperty('asset')
    expect(small!.payload).toHaveProperty('asset')
  })

  it('repeated values of a filter are kept once', async () => {
    const client = await connect()
    const { filters } = await client.subscribe({ assets: ['7', '8', '7', '7'], events: 'asset_minted' })
    expect(filters).toEqual({ assets: ['7', '8'], events: 'asset_minted' })
  })

  it('the number of bytes of all filter values of a connection is limited', async () => {
    const client = await connect()
    const assets = Array.from({ length: 900 }, (_, at) => String(10n ** 18n + BigInt(at)))
    const events = ['asset_minted', 'asset_updated', 'asset_burned']
    const isRefused = (): boolean => client.messages.some(({ type }) => type === 'error')
    for (let at = 0; at < 90 && !isRefused(); at++) {
      client.send({ type: 'subscribe', id: `s${at}`, assets, events })
      await until(
        () => client.messages.length > at,
        () => 'no answer',
      )
    }
    const [error] = await client.received('error', 1)
    expect(error).toMatchObject({ code: 'SUBSCRIPTIONS_TOO_LARGE' })
    expect(error!.message).toMatch(/^the subscriptions of a connection may take \d+ bytes/)
    const { length } = client.messages.filter(({ type }) => type === 'subscribed')
    client.send({ type: 'unsubscribe', id: 's0' })
    client.send({ type: 'subscribe', id: 'again', assets, events })
    await client.received('subscribed', length + 1)
  })
})
