import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import { unknownAssetJson } from '../record-schemas/index.ts'

/** WITH item `contained`: the distinct assets of rows, as keys. @param ids SQL of an array of asset ids. */
export function containedKeys(relation: string, ids: string): string {
  return `SELECT DISTINCT u.k, 0 AS n FROM ${relation} r CROSS JOIN LATERAL unnest(${ids}) AS u(k)`
}

/** JSON array of assets in the order of the ids (a comma list); of one that is not known only the id has a value. */
export function assetArray(list: string, assets: ReadonlyMap<string, Json>, contract: string): Json {
  const ids = list === '' ? [] : list.split(',')
  return jsonArray(ids.map((id) => assets.get(id) ?? unknownAssetJson(contract, id)))
}
