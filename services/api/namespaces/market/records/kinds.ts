import { assemblerOf, recordKind } from '../../../records/index.ts'
import type { RecordKind, RecordSettings } from '../../../records/index.ts'
import type { Fragments } from '../../../records/fragments/index.ts'
import { listingRecords } from './listing-records.ts'
import { payouts } from './royalty-records.ts'

const declared = { ...listingRecords, payout: payouts }

/** The readers of the records of the market contract. The key of a payout is `seq/payout_index`. */
export type MarketRecords = Readonly<Record<keyof typeof declared, RecordKind>>

export function marketRecordKinds(shared: Fragments, settings: RecordSettings): MarketRecords {
  const kinds = Object.entries(declared).map(([name, kind]) => [
    name,
    recordKind(shared, assemblerOf(kind, settings)),
  ])
  return Object.fromEntries(kinds) as MarketRecords
}
