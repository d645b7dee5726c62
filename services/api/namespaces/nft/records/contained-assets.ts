import { shape } from '../../../endpoint/index.ts'
import type { RecordSchema } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import type { Contained, DeclaredKind, RowParts } from '../../../records/index.ts'
import type { Group } from '../../../records/fields/index.ts'
import { assets } from './assets.ts'
import { measureContaining } from './record-sizes.ts'

/** Members of a contained asset without a row in the database, in addition to its id: every key of an asset, null. */
const unknownKeys = assets.schema.required!.filter((name) => name !== 'contract' && name !== 'asset_id')

const nothing: RecordSchema = { type: 'null', description: 'Not known' }

const unknownAsset = shape.record('UnknownAsset', 'An asset that is not known: only its id is', {
  contract: shape.text('Account of the assets contract'),
  asset_id: shape.decimal('Asset'),
  ...Object.fromEntries(unknownKeys.map((name) => [name, nothing])),
})

const UNKNOWN_MEMBERS = unknownKeys.map((name) => `"${name}":null`).join(',')

/** Assets inside another record. */
export interface AssetList {
  readonly name: string
  readonly description: string
  /** SQL of the array of asset ids. */
  readonly ids: string
  /** SQL of the assets contract account as JSON; default: the contract of the namespace. */
  readonly contract?: string
}

/**
 * The member that lists the assets in another record, in the order of their ids. An asset without a row shows only its
 * id.
 */
export function assetList(
  kind: DeclaredKind,
  { name, description, ids, contract }: AssetList,
): Group<RowParts> {
  const list = (listed: string, { contained, given }: RowParts, account?: string): Json =>
    jsonArray(
      (listed === '' ? [] : listed.split(',')).map(
        (id) =>
          contained.get(id) ??
          `{"contract":${account ?? given['contract']!},"asset_id":"${id}",${UNKNOWN_MEMBERS}}`,
      ),
    )
  return {
    members: { [name]: shape.list(shape.anyOf([kind.schema, unknownAsset]), description) },
    columns: [`array_to_string(${ids}, ',')`, ...(contract === undefined ? [] : [contract])],
    write: (parts, listed, account) => [`"${name}":`, list(listed, parts, account)],
  }
}

/**
 * Access of records to the assets in them.
 * @param keys SQL of the array of asset ids. @param shows SQL of the further content of the records, for their sizes.
 */
export function containedAssets(
  kind: DeclaredKind,
  keys: string,
  shows?: Parameters<typeof measureContaining>[1],
): Contained {
  return { kind, keys, measure: (rows) => measureContaining(rows, shows) }
}
