import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebsocketClient } from './clients.ts'
import { followRandomly } from './following.ts'
import { assetId, startLiveServer } from './live-server.ts'
import type { LiveServer } from './live-server.ts'
import { problemsOf } from './message-schemas.ts'

describe('cursors of subscriptions', () => {
  let server: LiveServer
  let url: string
  let nextBlock = 100
  const opened: { close(): void }[] = []

  beforeAll(async () => {
    server = await startLiveServer({ live: { connections_per_address: 1_000, messages_per_second: 1_000 } })
    url = `${server.api.url}/assets/v1/live`
  })
  afterEach(() => {
    for (const client of opened.splice(0)) client.close()
  })
  afterAll(() => server.close())

  async function connect(): Promise<WebsocketClient> {
    const client = await WebsocketClient.open(url)
    opened.push(client)
    return client
  }

  const update = async (...numbers: number[]): Promise<number> => {
    await server.feed.block(
      nextBlock,
      numbers.map((number) => ({ action: 'logsetdata', id: assetId(number) })),
    )
    return nextBlock++
  }

  /** Block number and id of each event that a client received. */
  const eventsOf = (client: WebsocketClient): unknown[] =>
    client.messages.flatMap(({ type, id, block }) => (type === 'event' ? [[block!.num, id]] : []))

  it.each(['at once', 'after subscribed', 'later'])(
    'a resumed subscription gets all missed events although a second subscription without a cursor is added %s',
    async (when) => {
      const first = await connect()
      await first.subscribe()
      await update(1)
      const [seen] = await first.received('event', 1)
      first.close()
      const blocks = [await update(1), await update(2), await update(1, 2)]
      const back = await connect()
      back.send({ type: 'subscribe', id: 'one', assets: [assetId(1)], cursor: seen!.cursor })
      if (when === 'after subscribed') await back.received('subscribed', 1)
      if (when === 'later') await back.received('position', 1)
      back.send({ type: 'subscribe', id: 'two', assets: [assetId(2)] })
      await back.received('event', 4)
      blocks.push(await update(1, 2))
      await back.received('event', 6)
      expect(eventsOf(back).sort()).toEqual(
        [
          ...[1, 2].map((number) => [blocks[number === 1 ? 0 : 1], assetId(number)]),
          ...blocks.slice(2).flatMap((block) => [1, 2].map((number) => [block, assetId(number)])),
        ].sort(),
      )
    },
  )

  it('a subscription added with a cursor gets the events after the cursor, and other subscriptions get no event twice', async () => {
    const client = await connect()
    await client.subscribe({ id: 'all' })
    const blocks = [await update(1, 2), await update(2), await update(1)]
    const seen = await client.received('event', 4)
    client.send({ type: 'subscribe', id: 'old', assets: [assetId(2)], cursor: seen[0]!.cursor })
    await client.received('event', 6)
    const replayed = client.messages.filter(({ type }) => type === 'event').slice(4)
    expect(replayed.map(({ block, id, subscriptions }) => [block!.num, id, subscriptions])).toEqual([
      [blocks[0], assetId(2), ['old']],
      [blocks[1], assetId(2), ['old']],
    ])
    await update(2)
    const [last] = (await client.received('event', 7)).slice(6)
    expect(last).not.toHaveProperty('subscriptions')
    for (const message of client.messages) expect(problemsOf(message)).toBe('')
  })

  it('a client whose subscriptions match nothing still gets newer cursors', async () => {
    const client = await connect()
    const begun = await client.subscribe({ assets: [assetId(150)] })
    await update(1)
    const again = await connect()
    await again.subscribe({ assets: [assetId(150)], cursor: begun.cursor })
    const [position] = await again.received('position', 1)
    expect(position!.cursor).not.toBe(begun.cursor)
  })

  it.each([1, 2, 3])(
    'clients with two to ten subscriptions lose no event and get none twice despite disconnects, forks and cursors of different ages, seed %i',
    async (seed) => {
      nextBlock = await followRandomly({ feed: server.feed, url, nextBlock, seed })
    },
  )
})
