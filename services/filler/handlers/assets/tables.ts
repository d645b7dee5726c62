import type { RowOf } from '../../../core/model/index.ts'
import { assetsTables as tables } from '../../../core/model/tables/index.ts'
export { tables }
export type { JsonText } from '../../../core/model/index.ts'

export type AssetRow = RowOf<typeof tables.assets>
export type OfferRow = RowOf<typeof tables.offers>
export type SchemaRow = RowOf<typeof tables.schemas>
export type TokenRow = RowOf<typeof tables.tokens>
