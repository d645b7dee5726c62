import type { NamedSchema, RecordReader } from '../../endpoint/index.ts'
import type { RecordKind } from '../../records/index.ts'
import { collectionRecord, schemaRecord, templateRecord } from './records/entity-schemas.ts'
import { offerRecord, transferRecord } from './records/trade-schemas.ts'
import type { AssetsSetup } from './setup.ts'

/** The records that events of the namespace carry. Keys of schemas are `collection/schema`. */
export function assetsRecords({ records, assetSchema }: AssetsSetup): Record<string, RecordReader> {
  return {
    asset: liveRecord(assetSchema, records.asset),
    collection: liveRecord(collectionRecord, records.collection),
    schema: liveRecord(schemaRecord, records.schema),
    template: liveRecord(templateRecord, records.template),
    offer: liveRecord(offerRecord(assetSchema), records.offer),
    transfer: liveRecord(transferRecord(assetSchema), records.transfer),
  }
}

/** Records of one kind as events carry them. */
export function liveRecord(schema: NamedSchema, kind: RecordKind): RecordReader {
  return { schema, read: (session, keys) => kind.readKeys(session, keys) }
}
