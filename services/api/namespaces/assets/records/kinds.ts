import type { DeclaredKind, RecordKind, RecordSettings } from '../../../records/index.ts'
import { assemblerOf, recordKind } from '../../../records/index.ts'
import type { Fragments } from '../../../records/fragments/index.ts'
import { collections, schemas, templates } from '../../nft/records/index.ts'
import { offersOf, transfersOf } from './trade-records.ts'

/** The readers of the records of the assets contract. Keys of schemas are `collection/schema`. */
export interface AssetsRecords {
  readonly asset: RecordKind
  readonly collection: RecordKind
  readonly schema: RecordKind
  readonly template: RecordKind
  readonly offer: RecordKind
  readonly transfer: RecordKind
}

/**
 * Creates the readers of the records of one namespace.
 * @param assets record type of assets; the market shows prices and listings in addition.
 */
export function assetsRecordKinds(
  shared: Fragments,
  settings: RecordSettings,
  assets: DeclaredKind,
): AssetsRecords {
  const kindOf = (kind: DeclaredKind): RecordKind => recordKind(shared, assemblerOf(kind, settings))
  return {
    asset: kindOf(assets),
    collection: kindOf(collections),
    schema: kindOf(schemas),
    template: kindOf(templates),
    offer: kindOf(offersOf(assets)),
    transfer: kindOf(transfersOf(assets)),
  }
}
