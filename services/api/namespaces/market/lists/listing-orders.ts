import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import type { Branch, Order } from '../../../planner/sources/index.ts'
import { SCHEMAS } from '../../nft/tables.ts'
import { TEMPLATE_DATA } from '../../nft/filters/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import { wantedCollections } from '../../nft/parameters/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { NAME_HEAD } from './listing-table.ts'

/** The requested order, except for prices that are not a column. */
export function listingOrder(request: ListingRequest): Order {
  const { table, values } = request
  switch (values.sort) {
    case 'updated':
      return orderBy(request, 'updated_at_time')
    case 'ending':
      return orderBy(request, 'end_time')
    case table.key:
      return orderBy(request, table.key)
    case 'price':
      return orderBy(request, 'price')
    case 'template_mint':
    case 'effective_mint':
      return mintOrder(request)
    case 'name':
      return nameOrder(request)
    default:
      return orderBy(request, 'created_at_time')
  }
}

function orderBy({ values }: ListingRequest, column: string): Order {
  return { direction: directionOf(values), branches: [{ rank: 0, column }] }
}

/** Last segment of an order: rows whose sort column is NULL, by key. */
function last({ table }: ListingRequest, column: string, type: string, share: number): Branch {
  const conditions = [raw(`l.${column} IS NULL`)]
  return { rank: 1, column: table.key, direction: 'ASC', value: raw(`NULL::${type}`), conditions, share }
}

function nullShare({ table: { table }, statistics }: ListingRequest, column: string): number {
  return statistics.equal(table, column, [null]) / statistics.rows(table)
}

/**
 * Number of adjacent groups in the name index that the rows of each filter form: the assets of a template share a
 * name, names within a collection are similar.
 */
function placesOfNames({ values, templates, named, statistics }: ListingRequest): Map<string, number> {
  const collections = wantedCollections(values)?.length
  const schemas = values.schema_name ?? []
  return new Map([
    ['collection', collections ?? 1],
    ['schema_name', collections ?? statistics.equal(SCHEMAS, 'schema_name', schemas)],
    ['template_id', values.template_id?.length ?? 1],
    [TEMPLATE_DATA, templates.kind === 'ids' ? templates.ids.length : 1],
    ['names', named?.matching.length ?? 1],
  ])
}

/** Order by name; listings without a name come last. The index stores only the first characters of a name. */
function nameOrder(request: ListingRequest): Order {
  const none = nullShare(request, 'name')
  return {
    direction: directionOf(request.values),
    branches: [
      {
        rank: 0,
        column: 'name_head',
        expression: NAME_HEAD,
        value: raw('l.name'),
        conditions: [raw('l.name IS NOT NULL')],
        share: 1 - none,
        clusters: placesOfNames(request),
      },
      last(request, 'name', 'text COLLATE "C"', none),
    ],
    sorted: { value: raw('l.name') },
  }
}

/** Order by the lowest mint number of a listing. */
function mintOrder(request: ListingRequest): Order {
  const { table, values } = request
  const [lowest] = table.mints
  const column = raw(`l.${lowest}`)
  const most = values.max_template_mint ?? values.max_effective_mint
  const bound: Sql[] = most === undefined ? [] : [sql`${column} <= ${bind(most, 'bigint')}`]
  const none = nullShare(request, lowest)
  const isNeverNull =
    values.sort === 'effective_mint' ||
    (['min_template_mint', 'min_effective_mint', 'max_effective_mint'] as const).some(
      (name) => values[name] !== undefined,
    ) ||
    (table.kind === 4 && most !== undefined)
  const numbered: Branch = {
    rank: 0,
    column: lowest,
    conditions: [sql`${column} IS NOT NULL`, ...bound],
    share: 1 - none,
  }
  return {
    direction: directionOf(values),
    branches: isNeverNull ? [numbered] : [numbered, last(request, lowest, 'integer', none)],
    sorted: { value: column },
  }
}
