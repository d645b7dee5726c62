import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientOptions } from 'ws'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor } from '../../services/core/feed-reader/index.ts'
import { StreamClient, WebsocketClient } from './clients.ts'
import { assetId, startLiveServer } from './live-server.ts'
import type { LiveServer } from './live-server.ts'
import { problemsOf } from './message-schemas.ts'

const limits = {
  connections_per_address: 12,
  subscriptions_per_connection: 3,
  values_per_subscription: 4,
  max_message_bytes: 1_000,
  messages_per_second: 2,
}

const MAX_QUEUE_BYTES = 65_536

describe('websocket and event stream', () => {
  let server: LiveServer
  const opened: { close(): void }[] = []

  let nextBlock = 200

  beforeAll(async () => {
    server = await startLiveServer({
      live: { ...limits, max_queue_bytes: MAX_QUEUE_BYTES },
      cors: ['^https://shop\\.example$'],
    })
  })
  afterEach(async () => {
    for (const client of opened.splice(0)) client.close()
    // The server notices closed connections after a short delay.
    await sleep(50)
  })
  afterAll(() => server.close())

  /** Publishes a block with updates of assets. */
  async function update(...numbers: number[]): Promise<number> {
    const block = nextBlock++
    await server.feed.block(
      block,
      numbers.map((number) => ({ action: 'logsetdata', id: assetId(number) })),
    )
    return block
  }

  async function connect(path = '/assets/v1/live', options: ClientOptions = {}): Promise<WebsocketClient> {
    const client = await WebsocketClient.open(server.api.url + path, options)
    opened.push(client)
    return client
  }

  function stream(query = ''): StreamClient {
    const client = new StreamClient(`${server.api.url}/assets/v1/events${query}`)
    opened.push(client)
    return client
  }

  it('the live server sends events in chain order, with the record that REST returns', async () => {
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

  it('the live server sends the same events compressed and uncompressed, as negotiated', async () => {
    // A client with a small compression window cannot decompress the message that all clients share, so the server does
    // not compress messages to it.
    const offers: [ClientOptions, string][] = [
      [{}, 'permessage-deflate'],
      [{ perMessageDeflate: false }, ''],
      [{ perMessageDeflate: { serverMaxWindowBits: 9 } }, ''],
    ]
    const clients = await Promise.all(offers.map(([options]) => connect(undefined, options)))
    expect(clients.map(({ socket }) => socket.extensions)).toEqual(offers.map(([, extensions]) => extensions))
    for (const client of clients) await client.subscribe()
    await update(5, 6)
    const received = await Promise.all(clients.map((client) => client.received('event', 2)))
    expect(received[1]).toEqual(received[0])
    expect(received[2]).toEqual(received[0])
    expect(received[0]![1]!.record).toEqual(await server.data(`/assets/v1/assets/${assetId(6)}`))
  })

  it('the live server sends a subscription only the events that match its filters by action and record', async () => {
    const asset = (await server.data(`/assets/v1/assets/${assetId(7)}`)) as {
      owner: string
      collection: { collection_name: string }
      template: { template_id: string }
    }
    const ask = [
      { events: ['asset_burned'] },
      { assets: [assetId(7)] },
      { accounts: [asset.owner], events: ['asset_updated'] },
      { collections: [asset.collection.collection_name] },
      { templates: [asset.template.template_id], assets: [assetId(7)] },
      { listings: ['3'] },
      { listings: ['offer/3'] },
      { listings: ['sale/3'] },
    ]
    const clients = await Promise.all(ask.map(() => connect()))
    for (const [at, client] of clients.entries()) await client.subscribe(ask[at])
    const listening = stream('?events=asset_burned,offer_accepted&listings=3')
    await listening.received('subscribed', 1)
    await update(7)
    await server.feed.block(nextBlock++, [
      { action: 'logburnasset', id: assetId(8) },
      { action: 'acceptoffer', id: '3' },
    ])
    const all = await connect()
    await all.subscribe()
    const last = await update(100)
    await all.received('event', 1)
    // The server writes to each connection separately: other clients may receive the events after the client `all`.
    const expected = [
      ...[['asset_burned'], ['asset_updated'], ['asset_updated']],
      ...[['asset_updated'], ['asset_updated'], ['offer_accepted'], ['offer_accepted'], []],
    ]
    for (const [at, client] of clients.entries()) await client.received('event', expected[at]!.length)
    const got = clients.map(({ messages }) =>
      messages.flatMap(({ event, block }) => (block?.num === last ? [] : (event ?? []))),
    )
    expect(got[3]).toContain('asset_updated')
    expect(got.toSpliced(3, 1)).toEqual(expected.toSpliced(3, 1))
    expect((await listening.received('event', 1)).map(({ event }) => event)).toEqual(['offer_accepted'])
    for (const { messages } of clients) for (const each of messages) expect(problemsOf(each)).toBe('')
  })

  it('the live server reports the error of an invalid message, and continues', async () => {
    const client = await connect()
    const wrong: [unknown, string][] = [
      ['nonsense', 'INVALID_MESSAGE'],
      [[], 'INVALID_MESSAGE'],
      [{ type: 'publish' }, 'INVALID_MESSAGE'],
      [{ type: 'subscribe', colour: 'red' }, 'INVALID_MESSAGE'],
      [{ type: 'subscribe', id: '' }, 'INVALID_MESSAGE'],
      [{ type: 'subscribe', events: ['sale_created'] }, 'INVALID_FILTER'],
      [{ type: 'subscribe', assets: ['abc'] }, 'INVALID_FILTER'],
      [{ type: 'subscribe', assets: ['1', '2', '3', '4', '5'] }, 'INVALID_FILTER'],
      [{ type: 'subscribe', cursor: 7 }, 'CURSOR_INVALID'],
      [{ type: 'unsubscribe', id: 'none' }, 'UNKNOWN_SUBSCRIPTION'],
    ]
    for (const [message] of wrong) client.send(message)
    const errors = await client.received('error', wrong.length)
    expect(errors.map(({ code }) => code)).toEqual(wrong.map(([, code]) => code))
    expect(errors[5]!.message).toContain('asset_minted')
    for (const error of errors) expect(problemsOf(error)).toBe('')
    for (const id of ['a', 'b', 'c']) await client.subscribe({ id })
    expect(await client.subscribe({ id: 'd' })).toMatchObject({ code: 'TOO_MANY_SUBSCRIPTIONS', id: 'd' })
    client.send({ type: 'unsubscribe', id: 'a' })
    await client.received('unsubscribed', 1)
    await update(9)
    await client.received('event', 1)
  })

  it('the live server sends a resuming client the missed events, without undone events', async () => {
    const first = await connect()
    await first.subscribe()
    const block = await update(1, 2, 3)
    const seen = await first.received('event', 3)
    first.close()
    await update(4)
    await server.feed.fork(block + 1)
    nextBlock = block + 1
    await update(5)
    const back = await connect()
    const begun = await back.subscribe({
      cursor: seen[1]!.cursor,
      assets: [assetId(3), assetId(4), assetId(5)],
    })
    expect(begun.cursor).toBe(seen[1]!.cursor)
    await update(3)
    const missed = await back.received('event', 3)
    expect(missed.map(({ id, block: at }) => [id, at!.num])).toEqual([
      [assetId(3), block],
      [assetId(5), block + 1],
      [assetId(3), block + 2],
    ])
    expect(back.messages.filter(({ type }) => type === 'fork')).toEqual([])
    const listening = stream(`?cursor=${missed[0]!.cursor!}`)
    expect((await listening.received('event', 2)).map(({ cursor }) => cursor)).toEqual(
      missed.slice(1).map(({ cursor }) => cursor),
    )
    for (const message of [...back.messages, ...listening.messages]) expect(problemsOf(message)).toBe('')
  })

  it('subscriptions without a cursor start at the cursor of the first subscription of the connection', async () => {
    const first = await connect()
    await first.subscribe()
    await update(1)
    const [seen] = await first.received('event', 1)
    await update(2)
    await first.received('event', 2)
    const back = await connect()
    back.send({ type: 'subscribe', id: 'first', cursor: seen!.cursor })
    back.send({ type: 'subscribe', id: 'second' })
    await back.received('event', 1)
    back.send({ type: 'subscribe', id: 'third' })
    await back.received('subscribed', 3)
    const begun = back.messages.filter(({ type }) => type === 'subscribed')
    expect(new Map(begun.map(({ id, cursor }) => [id, cursor]))).toEqual(
      new Map([
        ['first', seen!.cursor],
        ['second', seen!.cursor],
        ['third', seen!.cursor],
      ]),
    )
    for (const each of begun) expect(problemsOf(each)).toBe('')
  })

  it('the live server sends no event twice to a client that received events before the bus published them, and reports the lag of the reader', async () => {
    const first = await connect()
    await first.subscribe()
    await update(1)
    const [seen] = await first.received('event', 1)
    server.feed.isBusAway = true
    await update(2)
    const ahead = await connect()
    await ahead.subscribe({ cursor: seen!.cursor })
    await ahead.received('event', 1)
    // Wait until the resumed client has caught up and receives published entries.
    await sleep(50)
    server.feed.isBusAway = false
    await server.feed.lag(100)
    await ahead.received('lag', 1)
    const cursor = ahead.messages.findLast((each) => each.cursor !== undefined)!.cursor
    const back = await connect()
    await back.subscribe({ cursor })
    await update(3)
    expect((await back.received('event', 1)).map(({ id }) => id)).toEqual([assetId(3)])
    for (const each of ahead.messages) expect(problemsOf(each)).toBe('')
  })

  it('the live server reads events from the database if the bus loses them, and sends clients the lags and gaps of a reader', async () => {
    const client = await connect()
    await client.subscribe()
    server.feed.isBusAway = true
    await update(11)
    server.feed.isBusAway = false
    await update(12)
    expect((await client.received('event', 2)).map(({ id }) => id)).toEqual([assetId(11), assetId(12)])
    await server.feed.lag(100)
    expect((await client.received('lag', 1)).at(-1)).toMatchObject({ behind: 100, live: false })
    await server.feed.gap(nextBlock, nextBlock + 9)
    nextBlock += 10
    expect((await client.received('gap', 1))[0]).toMatchObject({ to_block: nextBlock - 1 })
  })

  it('the live server refuses a cursor that is too old, and names the oldest valid cursor', async () => {
    const first = await connect()
    await first.subscribe()
    await update(1)
    const [old] = await first.received('event', 1)
    await update(2)
    await update(3)
    await first.received('event', 3)
    await server.feed.prune(server.feed.sequence - 1)
    // Published entries stay in the memory of the API after pruning, so a cursor to them is still valid. A cursor of
    // another epoch is always too old.
    const cursor = encodeCursor({ ...decodeCursor(old!.cursor!), epoch: 1 })
    const back = await connect()
    const begun = await back.subscribe({ cursor })
    expect([begun.type, begun.cursor === cursor]).toEqual(['subscribed', false])
    const [error] = await back.received('error', 1)
    expect(begun.cursor).toBe(error!.cursor)
    expect(error).toMatchObject({ code: 'CURSOR_TOO_OLD', oldest_cursor: expect.any(String) as string })
    expect(problemsOf(error!)).toBe('')
    const again = await connect()
    await again.subscribe({ cursor: error!.oldest_cursor })
    expect((await again.received('event', 1))[0]!.id).toBe(assetId(3))
    const foreign = await connect()
    const told = await foreign.subscribe({ cursor: 'bm9uZQ' })
    expect((await foreign.received('error', 1))[0]).toMatchObject({
      ...{ code: 'CURSOR_INVALID', cursor: told.cursor },
    })
    expect(told.cursor).not.toBe('bm9uZQ')
  })

  it('the live server disconnects a client that sends too many messages, or a message above the size limit', async () => {
    const loud = await connect()
    for (let each = 0; each < 25; each++) loud.send({ type: 'unsubscribe', id: 'x' })
    expect(await loud.untilClosed()).toMatchObject({ code: 1008 })
    expect(loud.messages.at(-1)).toMatchObject({ code: 'RATE_LIMITED' })
    const long = await connect()
    long.send('x'.repeat(1_001))
    expect((await long.untilClosed()).code).toBe(1009)
  })

  it('the live server disconnects a client that does not read, without delaying others', async () => {
    const reading = await connect()
    const stuck = await connect(undefined, { perMessageDeflate: false })
    await reading.subscribe()
    await stuck.subscribe()
    stuck.socket.pause()
    const numbers = Array.from({ length: 190 }, (_, at) => at)
    const slowClients = () => server.metric('pronghorn_live_cut_total{transport="websocket",reason="slow"}')
    const slowBefore = await slowClients()
    let blocks = 0
    const waitingBytes = () => server.metric(`pronghorn_live_waiting_bytes{reader="${server.feed.reader}"}`)
    // The operating system buffers some megabytes before the server has to queue anything. When the queue is full, the
    // server notices only with a further event that the client does not read.
    while ((await slowClients()) === slowBefore) {
      await update(...numbers)
      blocks++
      await reading.received('event', blocks * numbers.length)
      if ((await waitingBytes()) >= MAX_QUEUE_BYTES) await sleep(250)
    }
    // The client that did not read continues to read. Only then does the client notice that the server has disconnected
    // it.
    stuck.socket.resume()
    expect(await stuck.untilClosed()).toMatchObject({ code: expect.any(Number) as number })
    expect(stuck.messages.filter(({ type }) => type === 'event').length).toBeLessThan(blocks * numbers.length)
    expect(reading.socket.readyState).toBe(reading.socket.OPEN)
  })

  it('the live server limits connections of one address, and accepts pages of allowed origins only', async () => {
    const url = `${server.api.url}/assets/v1/live`
    await expect(WebsocketClient.open(url, { origin: 'https://other.example' })).rejects.toThrow('status 403')
    opened.push(await WebsocketClient.open(url, { origin: 'https://shop.example' }))
    opened.push(await WebsocketClient.open(url, { origin: server.api.url }))
    for (let each = 0; each < 10; each++) await connect()
    await expect(connect()).rejects.toThrow('status 429')
    expect((await fetch(`${server.api.url}/assets/v1/events`)).status).toBe(429)
    opened[0]!.close()
    await sleep(100)
    await connect()
  })

  it('the live server frees all event streams of a connection when the connection closes', async () => {
    const request = 'GET /assets/v1/events HTTP/1.1\r\nHost: api\r\n\r\n'
    // Two connections, each with half of the streams that one address may have: one connection cannot have as many
    // requests in progress.
    const sockets = [0, 1].map(() => connectTcp(server.api.port, '127.0.0.1'))
    for (const socket of sockets) {
      opened.push({ close: () => socket.destroy() })
      socket.write(request.repeat(limits.connections_per_address / 2))
      await once(socket, 'data')
    }
    const status = async (): Promise<number> => {
      const stop = new AbortController()
      const answer = await fetch(`${server.api.url}/assets/v1/events`, { signal: stop.signal })
      stop.abort()
      return answer.status
    }
    expect(await status()).toBe(429)
    for (const socket of sockets) socket.destroy()
    await expect.poll(status).toBe(200)
    await expect
      .poll(async () => (await Promise.all([status(), status(), status()])).join())
      .toBe('200,200,200')
  })

  it('the live server answers invalid requests for websockets and event streams with an error status', async () => {
    const status = async (path: string, init: RequestInit = {}): Promise<number> =>
      (await fetch(server.api.url + path, init)).status
    expect(await status('/assets/v1/live')).toBe(426)
    expect(await status('/assets/v1/events', { method: 'POST' })).toBe(405)
    expect(await status('/assets/v1/events?events=nothing')).toBe(400)
    expect(await status('/assets/v1/events?cursor=nothing')).toBe(400)
    expect(await status('/assets/v1/events?collection_name=alicecollect')).toBe(400)
    expect(await status('/tools/v1/events')).toBe(404)
    await expect(connect('/tools/v1/live')).rejects.toThrow('status 404')
    await expect(connect('/assets/v1/assets')).rejects.toThrow('status 200')
    await expect(connect('/nowhere')).rejects.toThrow('status 404')
  })
})
