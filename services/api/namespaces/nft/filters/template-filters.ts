import { anyOf, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { contains, containsText, resembles } from '../conditions/index.ts'
import type { AssetValues } from '../parameters/index.ts'

/** Values of a request that filter templates. */
export interface TemplateRequest<
  V = Pick<AssetValues, 'match' | 'search' | 'is_transferable' | 'is_burnable'>,
> {
  readonly values: V
  readonly attributes: readonly AttributeFilter[]
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
}

/** Attribute filters, name searches and unset flags on a template, `t`. */
export function templateConditions({ values, attributes, trigrams }: TemplateRequest): Sql[] {
  const conditions: Sql[] = []
  for (const { family, containments } of attributes) {
    if (family !== 'data' && family !== 'template_data') continue
    const columns = ['t.immutable_data', 't.mutable_data']
    conditions.push(anyOf(columns.flatMap((column) => containments.map((pair) => contains(column, pair)))))
  }
  const names = [raw(`(t.immutable_data ->> 'name')`), raw(`(t.mutable_data ->> 'name')`)]
  const anyName = (test: (name: Sql) => Sql): Sql => {
    const [fixed, changing] = names.map(test)
    return sql`(${fixed!} OR ${changing!})`
  }
  const { match, search } = values
  if (match) conditions.push(anyName((name) => containsText(name, match)))
  if (search) conditions.push(anyName((name) => resembles(name, search, trigrams)))
  for (const flag of ['transferable', 'burnable'] as const) {
    if (values[`is_${flag}` as const] === false) conditions.push(raw(`NOT t.${flag}`))
  }
  return conditions
}
