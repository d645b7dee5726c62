import { shape } from '../../../endpoint/index.ts'
import type { NamedSchema } from '../../../endpoint/index.ts'
import { containedAssets } from '../../nft/record-schemas/index.ts'

/** A trade offer. @param asset shape of the assets in it. */
export const offerRecord = (asset: NamedSchema): NamedSchema =>
  shape.record('Offer', 'A trade offer', {
    contract: shape.text('Account of the contract'),
    offer_id: shape.decimal('Offer'),
    sender_name: shape.text('Account that made the offer'),
    recipient_name: shape.text('Account that may accept it'),
    memo: shape.text('Memo'),
    state: {
      type: 'integer',
      enum: [0, 1, 2, 3, 4, 5],
      description:
        '0 pending, 1 invalid (an asset is not where it must be), 2 unknown, 3 accepted, 4 declined, 5 cancelled',
    },
    sender_assets: containedAssets(asset, 'Assets of the sender, in order, in their current state'),
    recipient_assets: containedAssets(asset, 'Assets of the recipient, in order, in their current state'),
    is_sender_contract: shape.flag('The sender has ever had code'),
    is_recipient_contract: shape.flag('The recipient has ever had code'),
    updated_at_block: shape.ofHistory(shape.decimal('Block of creation or closing')),
    updated_at_time: shape.ofHistory(shape.time('Time of creation or closing')),
    created_at_block: shape.ofHistory(shape.decimal('Block of creation')),
    created_at_time: shape.ofHistory(shape.time('Time of creation')),
  })

/** A transfer. @param asset shape of the assets in it. */
export const transferRecord = (asset: NamedSchema): NamedSchema =>
  shape.record('Transfer', 'A transfer of assets of one collection', {
    contract: shape.text('Account of the contract'),
    transfer_id: shape.decimal('Global sequence number of the action'),
    sender_name: shape.text('Account that gave'),
    recipient_name: shape.text('Account that received'),
    memo: shape.text('Memo'),
    txid: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Transaction' },
    assets: containedAssets(asset, 'Assets in the order of the action, in their present state'),
    created_at_block: shape.decimal('Block'),
    created_at_time: shape.time('Time of the block'),
  })
