import type { Session } from '../../../database/index.ts'
import { bind, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { containsText, isNoneOf, isOneOf } from '../../nft/conditions/index.ts'
import type { ListingTable } from './listing-table.ts'
import type { ListingValues } from '../parameters.ts'

/** Templates up to which a search in names is answered through them. */
const MOST = 2_000

const FIXED_NAME = raw(`(t.immutable_data ->> 'name')`)

/** Searches in names that the names stored with a sale answer. */
export const nameSearches = ['match', 'match_immutable_name', 'match_mutable_name', 'search'] as const

/** A search in names for sales of one asset with a template: a name in the immutable attributes of a template is the name of all its assets.
 */
export interface NamedTemplates {
  /** Those whose name matches. */
  readonly matching: readonly number[]
  /** Those without such a name. */
  readonly nameless: readonly number[]
}

/** Conditions of searches in a name. */
export function nameConditions(values: ListingValues, name: Sql, trigrams: boolean): Sql[] {
  return nameSearches.flatMap((parameter) => {
    const term = values[parameter]
    if (!term) return []
    // The operator's threshold is 0.6.
    return [
      parameter === 'search' && trigrams ? sql`${bind(term, 'text')} <% ${name}` : containsText(name, term),
    ]
  })
}

/** Looks the templates up; undefined without a search, or where they are too many. */
export async function resolveNamedTemplates(
  session: Session,
  { kind }: ListingTable,
  values: ListingValues,
  trigrams: boolean,
): Promise<NamedTemplates | undefined> {
  const names = nameConditions(values, FIXED_NAME, trigrams)
  // Of other listings filters on templates look up the names.
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
