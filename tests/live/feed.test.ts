import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import { formatEpochMs } from '../../services/core/antelope/values/time.ts'
import { subscribeToFeed, readFeedState } from '../../services/core/feed-reader/index.ts'
import type { FeedBlock, FeedEntry, FeedTrace } from '../../services/core/feed/index.ts'
import { testSettings } from '../integration/index-chain.ts'
import shipAbi from '../fixtures/contracts/ship.leap.abi.json' with { type: 'json' }
import { LiveReader, quiet } from './live-reader.ts'
import {
  comparable,
  eventLines,
  newestSequence,
  readEntries,
  survivingBlocks,
  tableLines,
} from './published.ts'

const reader = testSettings.name
const ship = compileAbi(normalizeAbiJson(shipAbi))

/** Fields of a transaction trace that the test compares, as the node packs them. */
interface PackedTransaction {
  readonly id: string
  readonly cpu_usage_us: number
  readonly net_usage_words: number
  readonly action_traces: readonly [string, PackedAction][]
}

interface PackedAction {
  readonly action_ordinal: number
  readonly creator_action_ordinal: number
  readonly receipt: [string, { readonly global_sequence: bigint }]
  readonly receiver: string
  readonly act: {
    readonly account: string
    readonly name: string
    readonly authorization: readonly { readonly actor: string; readonly permission: string }[]
    readonly data: Uint8Array
  }
}

describe('the feed of a reader at the head', () => {
  let live: LiveReader
  let before: bigint
  let entries: FeedEntry[]

  beforeAll(async () => {
    live = await LiveReader.open({
      recordings: ['main', 'v2'],
      libLagBlocks: 30,
      blocks: 40,
      rate: 8,
      seed: 7,
    })
    live.start()
    await live.reach()
    expect(await readEntries(live.feed.query)).toEqual([])
    before = await newestSequence(live.feed.query)
    await live.follow(30)
    entries = await readEntries(live.feed.query)
  })

  afterAll(() => live.close())

  it('the feed has every event after the reader reached the head, once and in chain order, and no earlier event', async () => {
    const lines = eventLines(survivingBlocks(entries))
    expect(comparable(lines)).toEqual(await tableLines(live.feed.query, before))
    expect(new Set(lines.map((line) => line.split(' ')[1]))).toEqual(new Set(['assets', 'market', 'tools']))
    expect(lines.length).toBeGreaterThan(150)
    expect(entries.map(({ kind }) => kind)).toEqual(entries.map(() => 'block'))
  })

  it('blocks and transactions in the feed equal the blocks and transactions of the node', () => {
    for (const { block, transactions, events } of entries as FeedBlock[]) {
      const chainBlock = live.running.chain.block(block.num)!
      const header = ship.decoder<{ timestamp: string; producer: string }>('signed_block_header')(
        chainBlock.block!,
      )
      expect(block).toEqual({
        num: chainBlock.num,
        id: chainBlock.id.toString('hex'),
        time: Date.parse(`${header.timestamp}Z`),
        producer: header.producer,
      })
      expect(header.timestamp).toBe(formatEpochMs(block.time))
      const packed = ship
        .decoder<[string, PackedTransaction][]>('transaction_trace[]')(chainBlock.traces!)
        .map(([, transaction]) => transaction)
      for (const { id, cpu_usage_us, net_usage_words, traces } of transactions) {
        const expected = packed.find((transaction) => transaction.id === id)!
        expect({ cpu_usage_us, net_usage_words }).toEqual({
          cpu_usage_us: expected.cpu_usage_us,
          net_usage_words: expected.net_usage_words,
        })
        const actions = expected.action_traces
          .map(([, action]) => action)
          .filter(({ receiver, act }) => receiver === act.account)
          .sort((a, b) => (a.receipt[1].global_sequence < b.receipt[1].global_sequence ? -1 : 1))
        expect(traces.map(headOf)).toEqual(
          actions.map(({ act, receipt, action_ordinal, creator_action_ordinal }) => ({
            action_ordinal,
            creator_action_ordinal,
            global_sequence: String(receipt[1].global_sequence),
            account: act.account,
            name: act.name,
            authorization: act.authorization,
          })),
        )
        traces.forEach(({ raw }, i) => {
          if (raw !== undefined) expect(raw).toBe(Buffer.from(actions[i]!.act.data).toString('base64'))
        })
      }
      // A block of the feed lists each transaction once, and only if it has events.
      expect(new Set(transactions.map(({ id }) => id)).size).toBe(transactions.length)
      expect(new Set(events.map(({ transaction }) => transaction)).size).toBe(transactions.length)
    }
  })

  it('the feed contains decoded actions of indexed contracts, with 64-bit integers as text, and the bytes of other actions', () => {
    const traces = (entries as FeedBlock[]).flatMap(({ transactions }) =>
      transactions.flatMap((tx) => tx.traces),
    )
    const own = new Set(['atomicassets', 'atomicmarket', 'atomictoolsx', 'delphioracle'])
    for (const trace of traces) expect(trace.data !== undefined).toBe(own.has(trace.account))
    expect(traces.some(({ raw }) => raw !== undefined)).toBe(true)
    const mint = traces.find(({ name }) => name === 'logmint')!.data
    expect(mint).toMatchObject({
      asset_id: expect.stringMatching(/^\d+$/) as string,
      template_id: expect.any(Number) as number,
    })
    // Traces also contain action fields that the handler does not decode.
    expect(Object.keys(mint as object)).toContain('backed_tokens')
  })

  it('events in the feed contain the accounts, collections and ids that subscriptions filter by', () => {
    for (const { transactions, events } of entries as FeedBlock[])
      for (const event of events) {
        const { data, global_sequence } = transactions[event.transaction]!.traces[event.trace]!
        const fields = data as Record<string, unknown>
        if (event.event === 'assets_transferred')
          expect(event).toMatchObject({
            id: global_sequence,
            keys: {
              collections: [fields.collection_name],
              accounts: [fields.from, fields.to],
              assets: fields.asset_ids,
            },
          })
        if (event.event === 'asset_minted')
          expect(event).toMatchObject({
            id: fields.asset_id,
            keys: {
              templates: fields.template_id === -1 ? [] : [String(fields.template_id)],
              assets: [fields.asset_id],
            },
          })
        if (event.event === 'template_created')
          expect(event.id).toBe(`${String(fields.collection_name)}/${String(fields.template_id)}`)
      }
  })

  it('a subscriber of the feed receives all stored entries over Redis', async () => {
    const received: FeedEntry[] = []
    const subscriber = await subscribeToFeed({
      store: live.store,
      query: live.feed.query,
      reader,
      logger: quiet,
      onEntry: (entry) => void received.push(entry),
    })
    await live.follow(10)
    const all = await readEntries(live.feed.query)
    await expect.poll(() => received).toEqual(all.slice(entries.length))
    expect(subscriber.status()).toMatchObject({ via: 'bus', fromDatabase: 0, malformed: 0 })
    await subscriber.close()
  })

  it('the feed continues after a restart of the reader at the next block', async () => {
    await live.stop()
    live.running.chain.generate(5)
    live.start()
    await live.reach()
    await live.follow(2)
    const all = await readEntries(live.feed.query)
    expect(all.map(({ kind }) => kind)).not.toContain('gap')
    expect(comparable(eventLines(survivingBlocks(all)))).toEqual(await tableLines(live.feed.query, before))
  })

  it('the feed has a gap entry after a long outage of the reader', async () => {
    await live.stop()
    const { num } = live.running.chain.head()
    live.running.chain.generate(25)
    live.start({ feed_max_behind: 20 })
    await live.reach()
    expect((await readEntries(live.feed.query)).at(-1)).toMatchObject({
      kind: 'gap',
      from_block: num + 1,
      to_block: num + 25,
    })
    const before = await newestSequence(live.feed.query)
    await live.follow(3)
    const since = survivingBlocks(await readEntries(live.feed.query)).filter(({ block }) => block.num > num)
    expect(comparable(eventLines(since))).toEqual(await tableLines(live.feed.query, before))
    expect(await readFeedState(live.feed.query, reader)).toMatchObject({ toldTo: num + 28 })
  })
})

it('a reader of irreversible blocks publishes blocks as they become irreversible, and no fork', async () => {
  const live = await LiveReader.open({ recordings: ['main'], libLagBlocks: 4, blocks: 10, rate: 4, seed: 9 })
  const { chain } = live.running
  live.start({ irreversible_only: true })
  await live.reach(chain.lib())
  expect(await readEntries(live.feed.query)).toEqual([])
  const before = await newestSequence(live.feed.query)
  for (let block = 0; block < 8; block++) {
    chain.generate(2)
    chain.fork(2)
    await live.reach(chain.lib())
  }
  const entries = await readEntries(live.feed.query)
  expect(entries.map(({ kind }) => kind)).toEqual(entries.map(() => 'block'))
  const lines = eventLines(entries as FeedBlock[])
  expect(comparable(lines)).toEqual(await tableLines(live.feed.query, before))
  expect(lines.length).toBeGreaterThan(10)
  await live.close()
})

function headOf({ data: _data, raw: _raw, ...head }: FeedTrace): Omit<FeedTrace, 'data' | 'raw'> {
  return head
}
