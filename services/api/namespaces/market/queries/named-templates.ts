import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { collectionLists, contains, oneOf, resembles } from '../../assets/index.ts'
import type { ListingTable } from './listing-table.ts'

/** Templates up to which a search in names is answered through them. */
const MOST = 2_000
/** The same of those that leave it to their assets what these are called. */
const MOST_NAMELESS = 500

const FIXED_NAME = `(t.immutable_data ->> 'name')`
/** Searches that find the text in the name, whichever attributes it is from. */
const SEARCHES = ['match', 'search']
/** What chooses templates, or asks about names, in ways of its own. */
const OTHERS = [
  ...['template_id', 'hide_templates_by_accounts', 'is_transferable', 'is_burnable'],
  ...['match_immutable_name', 'match_mutable_name'],
]

/**
 * What a search in names means for listings of one asset that has a template: a name among the attributes of a template
 * that cannot change is the name of all its assets.
 */
export interface NamedTemplates {
  /** Those whose name matches. */
  readonly matching: readonly NamedTemplate[]
  /** Those without such a name. */
  readonly nameless: readonly number[]
}

/** A template and the name of its assets. */
export interface NamedTemplate {
  readonly id: number
  readonly name: string
}

/** Looks the templates up; undefined where that does not tell, or they are too many. */
export async function resolveNamedTemplates(
  session: Session,
  { kind }: ListingTable,
  values: Values,
  trigrams: boolean,
): Promise<NamedTemplates | undefined> {
  if (kind === 4 || !SEARCHES.some((name) => values.text(name))) return undefined
  if (OTHERS.some((name) => values.has(name))) return undefined
  const nameless = await selectTemplates(session, values, MOST_NAMELESS, () => [`${FIXED_NAME} IS NULL`])
  if (!nameless) return undefined
  const matching = await selectTemplates(session, values, MOST, (bindings) => {
    const match = values.text('match')
    const search = values.text('search')
    return [
      ...(match ? [contains(FIXED_NAME, match, bindings)] : []),
      ...(search ? [resembles(FIXED_NAME, search, trigrams, bindings)] : []),
    ]
  })
  return matching && { matching, nameless: nameless.map(({ id }) => id) }
}

async function selectTemplates(
  session: Session,
  values: Values,
  most: number,
  makeConditions: (bindings: Bindings) => string[],
): Promise<NamedTemplate[] | undefined> {
  const bindings = new Bindings()
  const conditions = [
    ...makeConditions(bindings),
    ...oneOf('t.collection_name', values.texts('collection_name'), bindings),
    ...collectionLists('t.collection_name', values, bindings),
  ]
  const rows = await session.query<[id: number, name: string | null]>({
    text: `SELECT t.template_id, ${FIXED_NAME} FROM assets.templates t ${whereClause(conditions)} LIMIT ${most + 1}`,
    values: bindings.values,
  })
  return rows.length > most ? undefined : rows.map(([id, name]) => ({ id, name: name ?? '' }))
}
