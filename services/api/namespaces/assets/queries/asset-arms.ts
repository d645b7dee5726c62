import type { Bindings } from '../../../database/index.ts'
import type { Arm } from '../../paging/index.ts'
import { armsOfNames, bindIntegers } from '../../paging/index.ts'
import { oneOf } from './asset-conditions.ts'
import type { AssetSearch } from './asset-search.ts'

/** Owners, templates or collections up to which each is read from its index on its own. */
const MAX_DRIVERS = 64

/**
 * Where assets of several owners, templates or collections are wanted, each has its own stretch of an index in the
 * order of the ids; one index scan over all of them would have to sort. A collection's stretches are its schemas', and
 * a schema name's are those of the collections that have one of that name.
 */
export function assetArms(search: AssetSearch, bindings: Bindings): Arm[] | undefined {
  const { values, templates: resolved } = search
  if (values.has('asset_id') || values.has('ids')) return undefined
  const given = values.ids('template_id') ?? values.ids('template_whitelist')
  const templates = resolved.kind === 'ids' ? resolved.ids : given
  if (templates && templates.length <= MAX_DRIVERS) {
    if (templates.length < 2) return undefined
    const list =
      resolved.kind === 'ids' ? bindings.bind(resolved.ids, 'integer[]') : bindIntegers(given!, bindings)
    return [{ drivers: `unnest(${list}) AS b(template_id)`, link: 'a.template_id = b.template_id' }]
  }
  if (values.has('owner')) return severalNames('owner', 'owner', search, bindings)
  for (const [parameter, column] of [
    ['burner', 'burned_by_account'],
    ['minter', 'minter'],
    ['initial_receiver', 'initial_receiver'],
  ] as const) {
    const arms = severalNames(parameter, column, search, bindings)
    if (arms) return arms
  }
  return templates ? undefined : schemaArms(search, bindings)
}

function severalNames(
  parameter: string,
  column: string,
  { values }: AssetSearch,
  bindings: Bindings,
): Arm[] | undefined {
  const names = values.texts(parameter)
  if (!names || names.length < 2 || names.length > MAX_DRIVERS) return undefined
  return armsOfNames(`a.${column}`, names, bindings)
}

function schemaArms({ values, authorized }: AssetSearch, bindings: Bindings): Arm[] | undefined {
  const collections = values.texts('collection_name') ?? values.texts('collection_whitelist') ?? authorized
  const names = values.texts('schema_name')
  if (!collections && !names) return undefined
  if (collections && (collections.length === 0 || collections.length > MAX_DRIVERS)) return undefined
  const within = [
    ...oneOf('s.collection_name', collections, bindings),
    ...oneOf('s.schema_name', names, bindings),
  ].join(' AND ')
  return [
    {
      drivers: `(SELECT s.collection_name, s.schema_name FROM assets.schemas s WHERE ${within}) b`,
      link: 'a.collection_name = b.collection_name AND a.schema_name = b.schema_name',
    },
  ]
}
