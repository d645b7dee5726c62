import { expect, it } from 'vitest'
import { describeEvent, isStopping } from './event-text.js'

const block = { num: 1_234, id: 'ab', time: 1_800_000_000_000 }

function line(message: Readonly<Record<string, unknown>>) {
  return describeEvent(JSON.stringify({ type: 'event', block, ...message }))
}

it('the text of an event names the action, the accounts and the assets', () => {
  const record = {
    sender_name: 'alice',
    recipient_name: 'bob',
    memo: 'for you',
    assets: [{ name: 'Sword' }, { asset_id: '1099511627777' }, { name: 'Bow' }, { name: 'Axe' }],
  }
  expect(line({ event: 'assets_transferred', entity: 'transfer', id: '77', record })).toEqual({
    title: 'Assets transferred',
    kind: 'event',
    detail: 'alice → bob · Sword, #1099511627777, Bow and 1 more · for you',
    block: 1_234,
    timeMs: block.time,
  })
  const asset = { name: 'Sword', owner: 'bob', collection: { collection_name: 'heroes' } }
  expect(line({ event: 'asset_minted', entity: 'asset', id: '5', record: asset })?.detail).toBe(
    'Sword · heroes · of bob',
  )
})

it('the text of an event shows all digits of a price, because the price is not converted to a floating-point number', () => {
  const detailOf = (amount: string, token_precision: number) =>
    line({
      event: 'sale_announced',
      entity: 'sale',
      id: '1',
      record: { seller: 'alice', price: { amount, token_precision, token_symbol: 'WAX' } },
    })?.detail
  expect(detailOf('18446744073709551615', 8)).toBe('184467440737.09551615 WAX · alice')
  expect(detailOf('150000000', 8)).toBe('1.5 WAX · alice')
  expect(detailOf('100000000', 8)).toBe('1 WAX · alice')
  expect(detailOf('7', 8)).toBe('0.00000007 WAX · alice')
  expect(detailOf('20', 0)).toBe('20 WAX · alice')
})

it('the text of an event without a record shows the id of the entity', () => {
  expect(line({ event: 'asset_burned', entity: 'asset', id: '5', record: null })?.detail).toBe('#5')
  expect(line({ event: 'collection_created', entity: 'collection', id: 'heroes' })?.detail).toBe('heroes')
})

it('the text of an event describes forks, gaps and the end of the stream', () => {
  expect(describeEvent('{"type":"fork","block_num":900}')).toMatchObject({
    title: 'Fork',
    kind: 'fork',
    block: 900,
  })
  expect(describeEvent('{"type":"gap","from_block":1,"to_block":7}')).toMatchObject({
    title: 'Gap',
    block: 7,
  })
  expect(describeEvent('{"type":"error","code":"SLOW","message":"too slow"}')).toMatchObject({
    kind: 'failure',
    detail: 'too slow',
  })
})

it('isStopping recognizes the message of a stopping server, but no other error message', () => {
  const texts = ['{"type":"error","code":"STOPPING"}', '{"type":"error","code":"TOO_SLOW"}', '{', 'null']
  expect(texts.map(isStopping)).toEqual([true, false, false, false])
})

it('messages that are not events have no event text', () => {
  for (const text of ['', 'null', '[]', '{}', '{"type":"lag"}', '{"event":5}']) {
    expect(describeEvent(text)).toBeUndefined()
  }
})
