import type { Bindings } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import { NEVER } from '../../assets/index.ts'

/** What an asset has from its mint on, by parameter; names as in migration 0075. */
const TRAITS = { minter: 'minter', initial_receiver: 'receiver' } as const
const PARAMETERS = ['minter', 'initial_receiver'] as const

/** Whether indexes of listings tell nearly which contain an asset that meets the filters. */
export function foretells(values: Values, attributes: readonly AttributeFilter[]): boolean {
  return PARAMETERS.some((name) => values.has(name)) || attributes.some(isTrait)
}

/**
 * What every listing of an asset that meets the filters meets, and few others: different things may have the same number,
 * and the assets of a bundle share theirs.
 */
export function traitConditions(
  values: Values,
  attributes: readonly AttributeFilter[],
  bindings: Bindings,
): string[] {
  const conditions = PARAMETERS.flatMap((name) => {
    const accounts = values.texts(name)
    if (!accounts) return []
    if (accounts.length === 0) return [NEVER]
    const traits = accounts.map(
      (account) => `market.trait('${TRAITS[name]}', ${bindings.bind(account, 'text')})`,
    )
    return [`l.traits && ARRAY[${traits.join(', ')}]`]
  })
  for (const { containment } of attributes.filter(isTrait))
    conditions.push(`l.traits @> market.data_traits(${bindings.bind(containment, 'jsonb')})`)
  return conditions
}

/** Lists are no traits. */
function isTrait(filter: AttributeFilter): filter is AttributeFilter & { containment: string } {
  const { family, containment } = filter
  if (family !== 'immutable_data' || containment === undefined) return false
  const attributes = JSON.parse(containment) as Record<string, unknown>
  return Object.values(attributes).every((value) => typeof value !== 'object')
}
