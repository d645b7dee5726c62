import { expect, it } from 'vitest'
import { ContinuedChain } from '../../scripts/lab/index.ts'

const ASSETS = 'atomicassets'
const known = { num: 5_000_000, id: Buffer.alloc(32, 7) }

function continued(): ContinuedChain {
  const time = { timeMs: 1_700_000_000_000, sequence: 9_000_000_000n }
  return new ContinuedChain({ chainId: '0'.repeat(64), blocks: [known], ...time, libLagBlocks: 2 })
}

it('follows the last block of the database, half a second later', () => {
  const block = continued().produceBlock([])
  expect(block).toMatchObject({ num: known.num + 1, prevId: known.id })
  expect(block.block!.readUInt32LE(0)).toBe((1_700_000_000_000 - 946_684_800_000) / 500 + 1)
})

it('executes actions on rows of the database, and sends only the changed rows', () => {
  const chain = continued()
  const collection = { collection_name: 'cards', author: 'alice', allow_notify: true, market_fee: 0 }
  const lists = { authorized_accounts: [], notify_accounts: [], serialized_data: new Uint8Array() }
  const place = { account: ASSETS, table: 'collections', scope: ASSETS, key: 'cards' }
  chain.put(place, 'alice', { ...collection, ...lists })
  const asset = { asset_id: 1n << 41n, collection_name: 'cards', schema_name: 'rare', template_id: -1 }
  const data = { immutable_serialized_data: new Uint8Array(), mutable_serialized_data: new Uint8Array() }
  chain.put({ account: ASSETS, table: 'assets', scope: 'alice', key: asset.asset_id }, 'alice', {
    ...{ ...asset, ...data, ram_payer: 'alice', backed_tokens: [] },
  })
  const empty = chain.produceBlock([])
  const moved = { from: 'alice', to: 'bob', asset_ids: [asset.asset_id], memo: 'a gift' }
  const block = chain.produceBlock([[chain.action(ASSETS, 'transfer', 'alice', moved)]])
  expect(block.traces!.includes('a gift')).toBe(true)
  expect(empty.deltas!.includes('contract_row')).toBe(false)
  expect(block.deltas!.includes('contract_row')).toBe(true)
})

it('keeps the row that an action has changed', () => {
  const chain = continued()
  const place = { account: ASSETS, table: 'config', scope: ASSETS, key: 'config' }
  chain.patch(place, { offer_counter: 77n })
  const data = { sender: 'alice', recipient: 'bob', sender_asset_ids: [], recipient_asset_ids: [], memo: '' }
  chain.produceBlock([[chain.action(ASSETS, 'createoffer', 'alice', data)]])
  const offer = { account: ASSETS, table: 'offers', scope: ASSETS, key: 77n }
  chain.put(offer, 'carol', { ...data, offer_id: 77n, ram_payer: 'carol', memo: 'other' })
  const block = chain.produceBlock([[chain.action(ASSETS, 'canceloffer', 'alice', { offer_id: 77n })]])
  expect(block.deltas!.includes('other')).toBe(false)
})
