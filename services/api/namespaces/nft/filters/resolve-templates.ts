import type { Session } from '../../../database/index.ts'
import { raw, sql, where } from '../../../sql/index.ts'
import { inCollections, oneOf, oneOfIds } from '../conditions/index.ts'
import { templateConditions } from './template-filters.ts'
import type { TemplateRequest } from './template-filters.ts'
import type { AssetValues } from '../parameters/index.ts'

/** Above this number of templates, a filter on template data checks each asset's template instead of using ids. */
const MAX_RESOLVED = 2_000

/** Name of the filter on templates with matching data. */
export const TEMPLATE_DATA = 'attributes of templates'

/** Filters on template data, resolved for a list of assets. */
export type ResolvedTemplates =
  | { readonly kind: 'unfiltered' }
  /** Templates that match, all of them. */
  | {
      readonly kind: 'ids'
      readonly ids: readonly number[]
      /** Number of unburned assets of the templates. */
      readonly held: number
      /**
       * Number of unburned assets of those templates that have no immutable name: only these assets can have a name of
       * their own.
       */
      readonly unnamed: number
    }
  /** Too many match to name them. */
  | { readonly kind: 'many' }

/**
 * Looks up the templates that match a request's filters on template data. There are few compared with the assets, and
 * with their ids an index serves the order of the assets.
 * @param isWithin whether listed templates are looked up too, within the requested collections and schemas.
 */
export async function resolveTemplates(
  session: Session,
  request: TemplateRequest<AssetValues>,
  isWithin = false,
): Promise<ResolvedTemplates> {
  const { values } = request
  const selected = templateConditions(request)
  if (selected.length === 0 && !(isWithin && values.template_id)) return { kind: 'unfiltered' }
  const conditions = [
    ...selected,
    ...oneOf('t.schema_name', values.schema_name),
    ...inCollections('t.collection_name', values),
    ...oneOfIds('t.template_id', values.template_id),
  ]
  const rows = await session.query<[ids: string | null, held: number, unnamed: number]>(
    // One text with all ids is cheaper than a row for each template.
    sql`SELECT string_agg(t.template_id::text, ','), coalesce(sum(n.minted - n.burned), 0)::float8,
        coalesce(sum(n.minted - n.burned) FILTER (WHERE NOT t.is_named), 0)::float8
      FROM (SELECT t.template_id, t.immutable_data ->> 'name' IS NOT NULL AS is_named FROM assets.templates t ${where(conditions)} LIMIT ${raw(`${MAX_RESOLVED + 1}`)}) t
      LEFT JOIN assets.template_counts n USING (template_id)`.render(),
  )
  const [text, held, unnamed] = rows[0]!
  const found = text === null ? [] : text.split(',').map(Number)
  if (found.length > MAX_RESOLVED) return { kind: 'many' }
  return { kind: 'ids', ids: found, held, unnamed }
}
