import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import { bindIntegers } from '../../paging/index.ts'
import { collectionLists, NEVER, oneOf } from './asset-conditions.ts'
import { contains, resembles } from './text-match.ts'

/** Templates up to which a filter on their data is answered through their ids. */
const MAX_RESOLVED = 2_000

/**
 * Attribute filters and name search on a template, `t`. Each may be met by its immutable or its mutable data.
 */
export function templateDataConditions(
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
  bindings: Bindings,
): string[] {
  const conditions: string[] = []
  for (const { family, containment } of attributes) {
    if (family !== 'data' && family !== 'template_data') continue
    if (containment === undefined) {
      conditions.push(NEVER)
      continue
    }
    const pair = bindings.bind(containment, 'jsonb')
    conditions.push(`(t.immutable_data @> ${pair} OR t.mutable_data @> ${pair})`)
  }
  const names = [`(t.immutable_data ->> 'name')`, `(t.mutable_data ->> 'name')`]
  const match = values.text('match')
  const search = values.text('search')
  if (match) conditions.push(anyOf(names.map((name) => contains(name, match, bindings))))
  if (search) conditions.push(anyOf(names.map((name) => resembles(name, search, trigrams, bindings))))
  return conditions
}

function anyOf(conditions: readonly string[]): string {
  return `(${conditions.join(' OR ')})`
}

/** Templates that match, all of them. */
interface NamedTemplates {
  readonly kind: 'ids'
  readonly ids: readonly number[]
  /** How many assets they have that are not burned. */
  readonly held: number
}

/** What filters on template data mean for assets. */
export type ResolvedTemplates =
  | { readonly kind: 'unfiltered' }
  | NamedTemplates
  /** Too many match to name them. */
  | { readonly kind: 'many' }

/**
 * Looks up the templates that a request's filters on template data select: they are few compared with the assets,
 * and knowing them lets the assets be read in order from an index.
 */
export async function resolveTemplates(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<ResolvedTemplates> {
  const bindings = new Bindings()
  const conditions = [
    ...templateDataConditions(values, attributes, trigrams, bindings),
    ...unsetFlags(values).map((flag) => `NOT t.${flag}`),
  ]
  if (conditions.length === 0) return { kind: 'unfiltered' }
  conditions.push(
    ...oneOf('t.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('t.schema_name', values.texts('schema_name'), bindings),
    ...collectionLists('t.collection_name', values, bindings),
  )
  const ids = values.ids('template_id')
  if (ids) conditions.push(`t.template_id = ANY(${bindIntegers(ids, bindings)})`)
  const rows = await session.query<[ids: string | null, held: number]>({
    // One text instead of a row for each template.
    text: `SELECT string_agg(t.template_id::text, ','), coalesce(sum(n.minted - n.burned), 0)::float8
      FROM (SELECT t.template_id FROM assets.templates t ${whereClause(conditions)} LIMIT ${MAX_RESOLVED + 1}) t
      LEFT JOIN assets.template_counts n USING (template_id)`,
    values: bindings.values,
  })
  const [text, held] = rows[0]!
  const found = text === null ? [] : text.split(',').map(Number)
  if (found.length > MAX_RESOLVED) return { kind: 'many' }
  return { kind: 'ids', ids: found, held }
}

/** Flags that a template must lack: few do. */
function unsetFlags(values: Values): ('transferable' | 'burnable')[] {
  const flags = [
    ['transferable', 'is_transferable'],
    ['burnable', 'is_burnable'],
  ] as const
  return flags.filter(([, parameter]) => values.bool(parameter) === false).map(([flag]) => flag)
}

/** The condition on assets, `a`, for templates that were looked up. */
export function resolvedTemplateCondition(
  resolved: ResolvedTemplates,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
  bindings: Bindings,
): string[] {
  if (resolved.kind === 'unfiltered') return []
  if (resolved.kind === 'ids') return [`a.template_id = ANY(${bindings.bind(resolved.ids, 'integer[]')})`]
  const conditions = [
    ...templateDataConditions(values, attributes, trigrams, bindings),
    ...unsetFlags(values).map((flag) => `NOT t.${flag}`),
  ]
  return [
    `EXISTS (SELECT FROM assets.templates t WHERE t.template_id = a.template_id AND ${conditions.join(' AND ')})`,
  ]
}
