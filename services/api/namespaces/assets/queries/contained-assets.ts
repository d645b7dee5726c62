import type { Bindings } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { assetConditions } from './asset-conditions.ts'

/** Parameters of the asset filter that ask about the assets themselves, not only which they are. */
const DETAILS = [
  'owner',
  'burned',
  'template_id',
  'collection_name',
  'schema_name',
  'is_transferable',
  'is_burnable',
  'minter',
  'initial_receiver',
  'burner',
]

/**
 * "Contains an asset such that …": the same asset meets every condition of the asset filter.
 * @param ids expression with the ids of the assets that the row contains, for example `t.asset_ids`.
 */
export function containedAssetConditions(ids: string, values: Values, bindings: Bindings): string[] {
  const conditions: string[] = []
  const wanted = values.ids('asset_id')
  // Found by its own index, and true also for assets that are not indexed.
  if (wanted) conditions.push(`${ids} && ${bindings.bindIds(wanted)}`)
  if (DETAILS.some((name) => values.has(name))) {
    const details = assetConditions(values, bindings).join(' AND ')
    conditions.push(`EXISTS (SELECT FROM assets.assets a WHERE a.asset_id = ANY(${ids}) AND ${details})`)
  }
  return conditions
}

/** `hide_contracts`: neither account has code, unless the request names it. */
export function hideContractsCondition(
  sender: string,
  recipient: string,
  values: Values,
  bindings: Bindings,
): string[] {
  if (values.bool('hide_contracts') !== true) return []
  const named = ['account', 'sender', 'recipient'].flatMap((name) => values.texts(name) ?? [])
  const exempt = named.length === 0 ? '' : ` AND h.account <> ALL(${bindings.bind(named, 'text[]')})`
  return [
    `NOT EXISTS (SELECT FROM chain.code_accounts h WHERE h.account IN (${sender}, ${recipient})${exempt})`,
  ]
}
