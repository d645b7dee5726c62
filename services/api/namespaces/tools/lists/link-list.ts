import { keyText, parseKeyText } from '../../../../core/antelope/index.ts'
import { bind, bindIds, raw, sql } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import { invalidParameter } from '../../../request/index.ts'
import { nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, ListReader, Statistics } from '../../../planner/index.ts'
import type { Source } from '../../../planner/sources/index.ts'
import { boundaryFilters, nameFilter } from '../../nft/filters/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import type { LinkValues } from '../parameters.ts'

/** Schema-qualified name of the table of links. `Statistics` stores row estimates by this name. */
export const LINKS = 'tools.links'

/**
 * Largest number in the parameter `state`. The replaced system refuses a larger number (32 bits), and so does the API.
 */
const GREATEST_STATE = 2n ** 31n - 1n
const GREATEST_STORED = 2n ** 15n - 1n

/**
 * Parameters with which the counters of links answer a count: `state`, and parameters that do not change the number of
 * links. With any other parameter, the links are counted row by row.
 */
const counted = new Set(['page', 'limit', 'order', 'sort', 'count', 'state'])

const linkSource: Source = {
  from: raw('tools.links l'),
  alias: 'l',
  key: 'link_id',
  indexes: [
    { name: 'links_pkey', columns: ['link_id'] },
    { name: 'links_updated_idx', columns: ['updated_at_time', 'link_id'] },
    { name: 'links_creator_idx', columns: ['creator', 'link_id'] },
    { name: 'links_claimer_idx', columns: ['claimer', 'link_id'] },
    { name: 'links_state_idx', columns: ['state', 'link_id'] },
    { name: 'links_key_idx', columns: ['public_key'] },
  ],
}

/** List of the requested links. Ids grow with the time of creation. */
export async function linkList(reader: ListReader, session: Session, values: LinkValues): Promise<List> {
  const { statistics } = reader
  await statistics.refresh(session)
  const isByUpdate = values.sort === 'updated'
  const filters = [
    ...(['creator', 'claimer'] as const).flatMap((column) => {
      const names = values[column]
      return names ? [nameFilter(column, names, statistics, { table: LINKS, alias: 'l', column })] : []
    }),
    ...keyFilter(values, statistics),
    ...stateFilter(values, statistics),
    ...assetFilter(values),
    ...collectionFilters(values, statistics),
    ...boundaryFilters(
      values,
      statistics,
      {
        table: LINKS,
        alias: 'l',
        key: 'link_id',
        type: 'bigint',
        time: isByUpdate
          ? { column: 'updated_at_time' }
          : { keysOf: { table: LINKS, key: 'link_id', time: 'created_at_time' } },
      },
      values.link_id,
    ),
  ]
  const direction = directionOf(values)
  const column = isByUpdate ? 'updated_at_time' : 'link_id'
  const order = { direction, segments: [{ rank: 0, column }], keys: direction }
  return { source: linkSource, table: LINKS, filters, order }
}

/**
 * Returns the number of links, as text, from counter rows. Undefined if the counters do not cover every filter of the
 * request.
 */
export async function countLinksFromCounters(
  session: Session,
  values: LinkValues,
): Promise<string | undefined> {
  if (!Object.keys(values).every((name) => counted.has(name))) return undefined
  const states = wantedStates(values)
  const rows = await session.query<[string]>({
    name: 'link-count',
    text: `SELECT coalesce(sum(c.links), 0)::text FROM tools.link_counts c
      WHERE $1::smallint[] IS NULL OR c.state = ANY($1::smallint[])`,
    values: [states ?? null],
  })
  return rows[0]![0]
}

/** Filter on the public key of a link. The requested key is converted to the spelling that the database stores. */
function keyFilter(values: LinkValues, statistics: Statistics): Filter[] {
  const text = values.public_key
  if (text === undefined) return []
  let packed: Uint8Array
  try {
    packed = parseKeyText('PUB', text)
  } catch {
    throw invalidParameter('public_key')
  }
  const key = keyText('PUB', packed[0]!, packed.subarray(1))
  return [nameFilter('public_key', [key], statistics, { table: LINKS, alias: 'l', column: 'public_key' })]
}

function stateFilter(values: LinkValues, statistics: Statistics): Filter[] {
  const states = wantedStates(values)
  if (states === undefined) return []
  return [
    {
      name: 'state',
      condition: sql`l.state = ANY(${bind(states, 'smallint[]')})`,
      rows: statistics.equal(LINKS, 'state', states),
      equals: { column: 'state', values: states, type: 'smallint', count: states.length },
      columns: ['state'],
      isIndexed: true,
    },
  ]
}

/**
 * The requested states of links. A number that does not fit the 16-bit column `state` matches no link and is left out.
 */
function wantedStates(values: LinkValues): number[] | undefined {
  const states = values.state
  if (states?.some((state) => state > GREATEST_STATE || state < -GREATEST_STATE - 1n)) {
    throw invalidParameter('state')
  }
  const stored = states?.filter((state) => state >= 0n && state <= GREATEST_STORED).map(Number)
  return stored && [...new Set(stored)]
}

function assetFilter(values: LinkValues): Filter[] {
  const ids = values.asset_id
  if (ids === undefined) return []
  if (ids.length === 0) return [nothing('asset_id')]
  return [
    {
      name: 'asset_id',
      condition: sql`l.asset_ids && ${bindIds([...new Set(ids)])}`,
      // Row estimate: on average, an asset is in two links.
      rows: 2 * ids.length,
      columns: ['asset_ids'],
      isIndexed: true,
    },
  ]
}

/**
 * Filters of the parameters `collection_whitelist` and `collection_blacklist`. A link passes the white-list if every
 * asset of the link is known and belongs to a listed collection. A link passes the black-list if none of its assets
 * belongs to a listed collection.
 */
function collectionFilters(values: LinkValues, statistics: Statistics): Filter[] {
  const { collection_whitelist: white, collection_blacklist: black } = values
  const rowsOf = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + statistics.containing(LINKS, 'collection_names', name), 0)
  const filters: Filter[] = []
  if (white?.length === 0) filters.push(nothing('collection_whitelist'))
  else if (white !== undefined) {
    const names = bind(white, 'text[]')
    filters.push({
      name: 'collection_whitelist',
      // The GIN index on `collection_names` serves the condition `&&`. PostgreSQL checks the conditions `<@` and `NOT`
      // on the rows that the index returns.
      condition: sql`l.collection_names && ${names} AND l.collection_names <@ ${names} AND NOT l.has_unknown_assets`,
      rows: Math.min(statistics.rows(LINKS), rowsOf(white)),
      columns: ['collection_names', 'has_unknown_assets'],
      isIndexed: true,
    })
  }
  if (black !== undefined && black.length > 0) {
    filters.push({
      name: 'collection_blacklist',
      condition: sql`NOT l.collection_names && ${bind(black, 'text[]')}`,
      rows: Math.max(1, statistics.rows(LINKS) - rowsOf(black)),
      columns: ['collection_names'],
      isIndexed: false,
    })
  }
  return filters
}
