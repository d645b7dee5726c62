import { assetsKinds } from './assets-kinds.ts'
import type { TrafficKind } from './kind.ts'
import { marketKinds } from './market-kinds.ts'

/** All kinds of request in the traffic benchmark. */
export const trafficKinds: readonly TrafficKind[] = [...assetsKinds, ...marketKinds]

export type { TrafficKind } from './kind.ts'
export { TrafficRows } from './rows.ts'
export type { AssetRow, ListingRow, OfferRow, TransferRow } from './rows.ts'
export { resultOf, summaryOf, cellsOf, resultHead } from './result.ts'
export type { KindResult, Sample } from './result.ts'
export { IndexScans } from './index-scans.ts'
export type { IndexUse } from './index-scans.ts'
