import type { RecordKind } from '../../../records/index.ts'
import { recordKind } from '../../../records/index.ts'
import type { AssetExtension, RecordSource } from '../../nft/records/index.ts'
import {
  assetAssembler,
  collectionAssembler,
  schemaAssembler,
  templateAssembler,
} from '../../nft/records/index.ts'
import { offerAssembler, transferAssembler } from './trade-records.ts'

/** The records of the assets contract. Keys of schemas are `collection/schema`. */
export interface AssetsRecords {
  readonly asset: RecordKind
  readonly collection: RecordKind
  readonly schema: RecordKind
  readonly template: RecordKind
  readonly offer: RecordKind
  readonly transfer: RecordKind
}

/** The records as one namespace shows them. @param extension what it adds to assets. */
export function assetsRecordKinds(source: RecordSource, extension?: AssetExtension): AssetsRecords {
  const { shared } = source
  const assets = assetAssembler(source, extension)
  return {
    asset: recordKind(shared, assets),
    collection: recordKind(shared, collectionAssembler(source)),
    schema: recordKind(shared, schemaAssembler(source)),
    template: recordKind(shared, templateAssembler(source)),
    offer: recordKind(shared, offerAssembler(source, assets)),
    transfer: recordKind(shared, transferAssembler(source, assets)),
  }
}
