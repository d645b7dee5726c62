import { ids, int, named, text, texts } from '../../../../core/parameters/index.ts'
import type { Parameter } from '../../../../core/endpoint/index.ts'

/** Parameters `ids`, the key, `lower_bound`, `upper_bound`, `before`, `after`. */
function boundaries<K extends string, L, B>(
  key: K,
  isFilter: boolean,
  list: (description: string) => Parameter<L>,
  bound: (description: string) => Parameter<B>,
) {
  const own = named(key, list(`${key} is one of these; together with ids, any of both.`))
  return {
    ids: list(`${key} is one of these.`),
    ...(isFilter ? ({} as typeof own) : own),
    lower_bound: bound(`${key} is at least this.`),
    upper_bound: bound(`${key} is below this.`),
    before: int('Earlier than this time, ms since 1970.', { minimum: 1 }),
    after: int('Later than this time, ms since 1970.', { minimum: 1 }),
  }
}

/**
 * Boundary parameters of a numeric key.
 * @param isFilter the endpoint describes a filter of the same name elsewhere.
 */
export function idBoundaries<K extends string>(key: K, isFilter = false) {
  return boundaries(key, isFilter, ids, (description) => int(description, { minimum: 1 }))
}

/**
 * Boundary parameters of a text key.
 * @param isFilter the endpoint describes a filter of the same name elsewhere.
 */
export function textBoundaries<K extends string>(key: K, isFilter = false) {
  const list = (description: string) => texts(description, 'named', {})
  return boundaries(key, isFilter, list, (description) => text(description, { minimum: 1 }))
}

/** Values of the boundary parameters, for numeric and text keys. */
export interface BoundaryValues {
  readonly ids?: readonly (bigint | string)[] | undefined
  readonly lower_bound?: number | string | undefined
  readonly upper_bound?: number | string | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
}
