import { describe, expect, it } from 'vitest'
import { decodeFeedEntry, decodeFeedMessage, encodeFeedMessage } from './codec.ts'
import { eventCatalogue, eventOfAction } from '../live/index.ts'
import type { FeedBlock } from './message.ts'

const block: FeedBlock = {
  kind: 'block',
  reader: 'reader-1',
  epoch: 1_600_000_000_000,
  sequence: '18446744073709551615',
  block: { num: 7, id: 'ab'.repeat(32), time: 1_600_000_000_500, producer: 'eosio' },
  transactions: [
    {
      id: '0f'.repeat(32),
      cpu_usage_us: 100,
      net_usage_words: 12,
      traces: [
        {
          action_ordinal: 1,
          creator_action_ordinal: 0,
          global_sequence: '9007199254740993',
          account: 'atomicassets',
          name: 'logmint',
          authorization: [{ actor: 'atomicassets', permission: 'active' }],
          data: { asset_id: '1099511627776' },
        },
      ],
    },
  ],
  events: [
    {
      contract: 'atomicassets',
      family: 'assets',
      event: 'asset_minted',
      id: '1099511627776',
      transaction: 0,
      trace: 0,
      keys: { assets: ['1099511627776'] },
    },
  ],
}

/** JSON text of the message `block` after `change` has changed its members. */
function changed(change: (copy: Record<string, never>) => void): string {
  const copy = JSON.parse(encodeFeedMessage(block)) as Record<string, never>
  change(copy)
  return JSON.stringify(copy)
}

describe('feed messages', () => {
  it('feed messages round-trip', () => {
    expect(decodeFeedEntry(encodeFeedMessage(block))).toEqual(block)
    const lag = {
      kind: 'lag',
      reader: 'r',
      epoch: 1,
      sequence: '4',
      block_num: 3,
      head_block: 9,
      behind: 6,
      live: false,
    } as const
    expect(decodeFeedMessage(encodeFeedMessage(lag))).toEqual(lag)
    expect(() => decodeFeedEntry(encodeFeedMessage(lag))).toThrow(/no valid kind/)
  })

  it.each<[string, string]>([
    ['not JSON', '{'],
    ['no valid message', '[]'],
    ['no valid kind', changed((copy) => Object.assign(copy, { kind: 'news' }))],
    ['no valid reader', changed((copy) => Object.assign(copy, { reader: '' }))],
    ['no valid sequence', changed((copy) => Object.assign(copy, { sequence: 5 }))],
    ['no valid block', changed((copy) => Object.assign(copy, { block: null }))],
    ['no valid block.id', changed((copy) => Object.assign(copy['block']!, { id: 'AB' }))],
    ['no valid transactions', changed((copy) => Object.assign(copy, { transactions: {} }))],
    ['no valid events[0].transaction', changed((copy) => Object.assign(copy, { transactions: [] }))],
    ['no valid events[0].trace', changed((copy) => Object.assign(copy['events']![0], { trace: 1 }))],
    ['no valid events[0].family', changed((copy) => Object.assign(copy['events']![0], { family: 'x' }))],
    [
      'no valid events[0].keys.assets',
      changed((copy) => Object.assign(copy['events']![0], { keys: { assets: [1] } })),
    ],
  ])('a malformed feed message is refused with the reason: %s', (problem, text) => {
    expect(() => decodeFeedMessage(text)).toThrow(problem)
  })
})

describe('the event catalogue', () => {
  it('no two entries of the event catalogue have the same action, and all entries of an event have the same entity', () => {
    const actions = eventCatalogue.map(({ family, action }) => `${family} ${action}`)
    expect(new Set(actions).size).toBe(actions.length)
    const entities = new Map<string, string>()
    for (const { event, family, entity } of eventCatalogue) {
      const kind = `${family} ${entity}`
      expect(entities.get(event) ?? kind).toBe(kind)
      entities.set(event, kind)
    }
  })

  it('the event catalogue contains the twelve events of the socket interface', () => {
    const published = eventCatalogue.flatMap(({ socket, action }) =>
      (socket?.namespaces ?? []).map((namespace) => `${namespace} ${socket!.event} ${action}`),
    )
    expect(published.sort()).toEqual(
      [
        '/v1/assets new_asset logmint',
        '/v1/assets burn logburnasset',
        '/v1/assets back logbackasset',
        '/v1/assets update logsetdata',
        '/v1/offers create lognewoffer',
        '/v1/offers new_transfer logtransfer',
        '/v1/transfers new_transfer logtransfer',
        '/v1/sales new_sale lognewsale',
        '/v1/sales purchased_sale purchasesale',
        '/v1/auctions new_auction lognewauct',
        '/v1/auctions new_bid auctionbid',
        '/v1/buyoffers new_buyoffer lognewbuyo',
        '/v1/template_buyoffers new_template_buyoffer lognewtbuyo',
      ].sort(),
    )
    expect(eventOfAction('market', 'auctionbid')?.socket?.room).toBe('new_bids')
    expect(eventOfAction('oracle', 'auctionbid')).toBeUndefined()
  })
})
