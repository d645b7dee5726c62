import { declareKind } from '../../../records/index.ts'
import type { DeclaredKind } from '../../../records/index.ts'
import { field } from '../../../records/fields/index.ts'
import { assetList, containedAssets } from '../../nft/records/index.ts'

const hasCode = (account: string): string =>
  `EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = ${account})`

const contract = field.contract('contract', 'Account of the contract')

/**
 * Declares the record type of trade offers.
 * @param assets record type of the offered assets.
 */
export function offersOf(assets: DeclaredKind): DeclaredKind {
  return declareKind({
    ...{ title: 'Offer', description: 'A trade offer', keyType: 'bigint' },
    ...{ alias: 'o', key: 'o.offer_id', from: 'assets.offers o' },
    further: ['o.sender_asset_ids', 'o.recipient_asset_ids'],
    members: {
      contract,
      offer_id: field.decimal('o.offer_id', 'Offer'),
      sender_name: field.name('o.sender', 'Account that made the offer'),
      recipient_name: field.name('o.recipient', 'Account that may accept the offer'),
      memo: field.text('o.memo', 'Memo'),
      state: field.json('o.state', {
        type: 'integer',
        enum: [0, 1, 2, 3, 4, 5],
        description:
          '0 pending, 1 invalid (the sender or the recipient lacks an asset that it has to give), 2 unknown, 3 accepted, 4 declined, 5 cancelled',
      }),
      is_sender_contract: field.flag(hasCode('o.sender'), 'The sender has or once had contract code'),
      is_recipient_contract: field.flag(
        hasCode('o.recipient'),
        'The recipient has or once had contract code',
      ),
      updated_at_block: field.ofHistory(field.decimal('o.updated_at_block', 'Block of creation or closing')),
      updated_at_time: field.ofHistory(field.time('o.updated_at_time', 'Time of creation or closing')),
      created_at_block: field.ofHistory(field.decimal('o.created_at_block', 'Block of creation')),
      created_at_time: field.ofHistory(field.time('o.created_at_time', 'Time of creation')),
      sent: assetList(assets, {
        name: 'sender_assets',
        description: 'Assets of the sender in the order of the offer, with their current data',
        ids: 'o.sender_asset_ids',
      }),
      received: assetList(assets, {
        name: 'recipient_assets',
        description: 'Assets of the recipient in the order of the offer, with their current data',
        ids: 'o.recipient_asset_ids',
      }),
    },
    contained: containedAssets(assets, 'o.sender_asset_ids || o.recipient_asset_ids'),
  })
}

/**
 * Declares the record type of transfers.
 * @param assets record type of the transferred assets.
 */
export function transfersOf(assets: DeclaredKind): DeclaredKind {
  return declareKind({
    ...{ title: 'Transfer', description: 'A transfer of assets of one collection', keyType: 'bigint' },
    ...{ alias: 't', key: 't.transfer_id', isPartitioned: true },
    from: 'assets.transfers t LEFT JOIN LATERAL assets.origin_of(t.transfer_id) x ON true',
    further: ['t.asset_ids'],
    members: {
      contract,
      transfer_id: field.decimal('t.transfer_id', 'Global sequence number of the action'),
      sender_name: field.name('t.sender', 'Account that sent the assets'),
      recipient_name: field.name('t.recipient', 'Account that received the assets'),
      memo: field.text('t.memo', 'Memo'),
      txid: { ...field.transaction('x.txid'), empty: 'null' },
      created_at_block: { ...field.decimal('x.block_num', 'Block'), empty: 'null' },
      created_at_time: { ...field.time('x.block_time', 'Time of the block'), empty: 'null' },
      assets: assetList(assets, {
        name: 'assets',
        description: 'Assets in the order of the action, with their current data',
        ids: 't.asset_ids',
      }),
    },
    contained: containedAssets(assets, 't.asset_ids'),
  })
}
