import type { Bindings } from '../../database/index.ts'
import type { Values } from '../../endpoint/index.ts'

/** Columns that the boundary parameters compare. */
export interface BoundaryColumns {
  /** Key column, for example `o.offer_id`. */
  readonly key: string
  /** Type of the key. */
  readonly cast: 'bigint' | 'integer' | 'text'
  /** Parameter that is united with `ids`. */
  readonly parameter: string
  /** The parameter is a filter of its own; `ids` then counts only without it. */
  readonly isFilter?: boolean
  /** Column that `before` and `after` compare; without it they do nothing here. */
  readonly date?: string
}

/** Conditions of `ids`, the key, `lower_bound`, `upper_bound`, `before` and `after`. */
export function boundaryConditions(values: Values, columns: BoundaryColumns, bindings: Bindings): string[] {
  const { key, cast, date } = columns
  const conditions = keyCondition(values, columns, bindings)
  // A bound may be beyond what the column can hold; the comparison is then made in 64 bits.
  const boundCast = cast === 'text' ? 'text' : 'bigint'
  const lower = cast === 'text' ? values.text('lower_bound') : values.int('lower_bound')
  const upper = cast === 'text' ? values.text('upper_bound') : values.int('upper_bound')
  if (lower !== undefined) conditions.push(`${key} >= ${bindings.bind(lower, boundCast)}`)
  if (upper !== undefined) conditions.push(`${key} < ${bindings.bind(upper, boundCast)}`)
  const before = values.int('before')
  const after = values.int('after')
  if (date !== undefined && before !== undefined) {
    conditions.push(`${date} < ${bindings.bind(before, 'bigint')}`)
  }
  if (date !== undefined && after !== undefined)
    conditions.push(`${date} > ${bindings.bind(after, 'bigint')}`)
  return conditions
}

function keyCondition(values: Values, columns: BoundaryColumns, bindings: Bindings): string[] {
  const { key, cast, parameter, isFilter } = columns
  if (isFilter && values.has(parameter)) return []
  const names = isFilter ? ['ids'] : ['ids', parameter]
  if (cast === 'text') {
    const lists = names.map((name) => values.texts(name)).filter((list) => list !== undefined)
    return lists.length === 0 ? [] : [`${key} = ANY(${bindings.bind(lists.flat(), 'text[]')})`]
  }
  const lists = names.map((name) => values.ids(name)).filter((list) => list !== undefined)
  if (lists.length === 0) return []
  const ids = lists.flat()
  return [`${key} = ANY(${cast === 'integer' ? bindIntegers(ids, bindings) : bindings.bindIds(ids)})`]
}

/** Binds ids of a 32-bit column; what cannot be in it is left out, as it matches nothing. */
export function bindIntegers(ids: readonly bigint[], bindings: Bindings): string {
  const inRange = ids.filter((id) => id >= -0x8000_0000n && id <= 0x7fff_ffffn).map(Number)
  return bindings.bind(inRange, 'integer[]')
}
