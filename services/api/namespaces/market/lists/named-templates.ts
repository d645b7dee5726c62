import type { Session } from '../../../database/index.ts'
import { bind, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { containsText, isNoneOf, isOneOf } from '../../nft/conditions/index.ts'
import type { ListingTable } from './listing-table.ts'
import type { ListingValues } from '../parameters.ts'

/** Above this number of templates, a name search checks each listing instead of using their ids. */
const MOST = 2_000

const FIXED_NAME = raw(`(t.immutable_data ->> 'name')`)

/** Name searches that the columns of a sale cover. */
export const nameSearches = ['match', 'match_immutable_name', 'match_mutable_name', 'search'] as const

/**
 * A name search resolved to templates, for sales of one asset with a template. A name in the immutable attributes of a
 * template is the name of all its assets.
 */
export interface NamedTemplates {
  /** Templates whose immutable name matches. */
  readonly matching: readonly number[]
  /** Templates without an immutable name: their assets may have names of their own. */
  readonly nameless: readonly number[]
}

/** Conditions of the request's name searches on a name. */
export function nameConditions(values: ListingValues, name: Sql, trigrams: boolean): Sql[] {
  return nameSearches.flatMap((parameter) => {
    const term = values[parameter]
    if (!term) return []
    // `<%` uses pg_trgm.word_similarity_threshold, 0.6 by default.
    return [
      parameter === 'search' && trigrams ? sql`${bind(term, 'text')} <% ${name}` : containsText(name, term),
    ]
  })
}

/** Looks up the templates; undefined without a name search, or above MOST templates. */
export async function resolveNamedTemplates(
  session: Session,
  { kind }: ListingTable,
  values: ListingValues,
  trigrams: boolean,
): Promise<NamedTemplates | undefined> {
  const names = nameConditions(values, FIXED_NAME, trigrams)
  // Only sales; filters on templates search the names for other listings.
  if (kind !== 1 || names.length === 0) return undefined
  const { collection_name: collections, collection_whitelist: white } = values
  const scope = [
    ...(collections ? [isOneOf(raw('t.collection_name'), collections)] : []),
    ...(white ? [isOneOf(raw('t.collection_name'), white)] : []),
    isNoneOf(raw('t.collection_name'), values.collection_blacklist ?? []),
  ]
  const idsOf = (conditions: readonly Sql[]): Sql => sql`(SELECT string_agg(x.template_id::text, ',') FROM (
      SELECT t.template_id FROM assets.templates t ${where([...conditions, ...scope])} LIMIT ${raw(String(MOST + 1))}) x)`
  const [row] = await session.query<[string | null, string | null]>(
    sql`SELECT ${idsOf(names)}, ${idsOf([sql`${FIXED_NAME} IS NULL`])}`.render(),
  )
  const [matching, nameless] = (row ?? [null, null]).map((text) => (text ? text.split(',').map(Number) : []))
  if (matching!.length > MOST || nameless!.length > MOST) return undefined
  return { matching: matching!, nameless: nameless! }
}
