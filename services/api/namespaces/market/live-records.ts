import type { RecordReader } from '../../endpoint/index.ts'
import { liveRecord } from '../nft/endpoints/index.ts'
import { listingKinds, listingTables } from './lists/listing-table.ts'
import type { MarketSetup } from './setup.ts'

/** Readers of the records that events of the namespace carry. */
export function marketRecords({ records }: MarketSetup): Record<string, RecordReader> {
  const readers = listingKinds.map((kind): [string, RecordReader] => {
    const { table, key, group, isSingle } = listingTables[kind]
    const reader = liveRecord(records[kind], {
      ...{ table, key: `r.${key}`, keyType: 'bigint', path: `/v1/${group}/` },
      ...{ accounts: ['r.seller', 'r.buyer'], collection: 'r.collection_name' },
      ...(isSingle ? { template: 'r.template_id', assets: 'ARRAY[r.asset_id]' } : { assets: 'r.asset_ids' }),
    })
    return [kind, reader]
  })
  return Object.fromEntries(readers)
}
