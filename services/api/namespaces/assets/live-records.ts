import type { RecordReader } from '../../endpoint/index.ts'
import { liveRecord, textBytes } from '../nft/endpoints/index.ts'
import type { KeySource } from '../nft/endpoints/index.ts'
import type { AssetsSetup } from './setup.ts'

const sources = {
  asset: {
    ...{ table: 'assets.assets', key: 'r.asset_id', keyType: 'bigint', path: '/v1/assets/' },
    ...{ accounts: ['r.owner', 'r.burned_by_account'], assets: 'ARRAY[r.asset_id]' },
  },
  collection: {
    ...{ table: 'assets.collections', key: 'r.collection_name', keyType: 'text', path: '/v1/collections/' },
    ...{ accounts: ['r.author'], collection: 'r.collection_name', bytes: textBytes('r.data') },
  },
  schema: {
    ...{ table: 'assets.schemas', key: `r.collection_name || '/' || r.schema_name`, keyType: 'text' },
    ...{ accounts: [], collection: 'r.collection_name', bytes: textBytes('r.format'), path: '/v1/schemas/' },
  },
  template: {
    ...{ table: 'assets.templates', key: 'r.template_id', keyType: 'integer', path: '/v1/templates/' },
    ...{ accounts: [], collection: 'r.collection_name', template: 'r.template_id' },
    bytes: `${textBytes('r.immutable_data')} + ${textBytes('r.mutable_data')}`,
  },
  offer: {
    ...{ table: 'assets.offers', key: 'r.offer_id', keyType: 'bigint', path: '/v1/offers/' },
    ...{ accounts: ['r.sender', 'r.recipient'], assets: 'r.sender_asset_ids || r.recipient_asset_ids' },
  },
  transfer: {
    ...{ table: 'assets.transfers', key: 'r.transfer_id', keyType: 'bigint', path: '/v1/transfers?ids=' },
    ...{ accounts: ['r.sender', 'r.recipient'], collection: 'r.collection_name', assets: 'r.asset_ids' },
  },
} as const satisfies Record<string, KeySource>

/** Readers of the records that events of the namespace carry. Keys of schemas are `collection/schema`. */
export function assetsRecords({ records }: AssetsSetup): Record<string, RecordReader> {
  return {
    asset: liveRecord(records.asset, sources.asset),
    collection: liveRecord(records.collection, sources.collection),
    schema: liveRecord(records.schema, sources.schema),
    template: liveRecord(records.template, sources.template),
    offer: liveRecord(records.offer, sources.offer),
    transfer: liveRecord(records.transfer, sources.transfer),
  }
}
