import { shape } from '../../../endpoint/index.ts'
import type { NamedSchema, RecordSchema } from '../../../endpoint/index.ts'
import { assetRecord } from './asset-schemas.ts'

/** Members of an asset that is missing in the database, in addition to its id: every key of an asset, without a value. */
const unknownKeys = assetRecord.required!.filter((name) => name !== 'contract' && name !== 'asset_id')

const nothing: RecordSchema = { type: 'null', description: 'Not known' }

const unknownAsset = shape.record('UnknownAsset', 'An asset that is not known: only its id is', {
  contract: shape.text('Account of the assets contract'),
  asset_id: shape.decimal('Asset'),
  ...Object.fromEntries(unknownKeys.map((name) => [name, nothing])),
})

const UNKNOWN_MEMBERS = unknownKeys.map((name) => `"${name}":null`).join(',')

/** The JSON of an asset that is not known. */
export function unknownAssetJson(contract: string, id: string): string {
  return `{"contract":"${contract}","asset_id":"${id}",${UNKNOWN_MEMBERS}}`
}

/** The shape of a list of assets inside another record. */
export function containedAssets(asset: NamedSchema, description: string): RecordSchema {
  return shape.list(shape.anyOf([asset, unknownAsset]), description)
}
