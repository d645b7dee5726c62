import type { Statistics } from '../../../planner/index.ts'
import { ASSETS } from '../tables.ts'

/**
 * Row estimate: assets whose own attributes contain an object of one key.
 * @param containment JSON text, for example `{"level":4}`.
 */
export function attributeRows(
  statistics: Statistics,
  family: 'immutable_data' | 'mutable_data',
  containment: string,
): number {
  // PostgreSQL prints jsonb with a space after each colon.
  const text = containment.slice(1, -1).replace(/^("(?:[^"\\]|\\.)*"):/, '$1: ')
  const isList = text.endsWith(']')
  return statistics.sampled(ASSETS, family, (value) => {
    const at = value.indexOf(text)
    if (isList) return value.includes(text.slice(0, text.indexOf(':')))
    if (at === -1) return false
    const next = value[at + text.length]
    return next === ',' || next === '}'
  })
}
