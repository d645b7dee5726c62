import { without } from '../../../../core/endpoint/index.ts'
import { allOf, bind, raw, sql } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, ListReader, Statistics } from '../../../planner/index.ts'
import type { Order, Source } from '../../../planner/sources/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import { boundaryFilters, nameFilter, templateConditions } from '../../nft/filters/index.ts'
import { authorizedFilter, collectionFilter } from './collection-filters.ts'
import type { TemplateValues } from '../parameters.ts'
import { TEMPLATES } from '../../nft/tables.ts'
import { TEMPLATE_NAME, TEMPLATE_NAME_HEAD } from '../../nft/template-name.ts'

const templateSource: Source = {
  from: raw('assets.templates t'),
  alias: 't',
  key: 'template_id',
  indexes: [
    { name: 'templates_pkey', columns: ['template_id'] },
    { name: 'templates_collection_idx', columns: ['collection_name', 'schema_name', 'template_id'] },
    { name: 'templates_schema_idx', columns: ['schema_name', 'template_id'] },
    { name: 'templates_name_idx', columns: ['name', 'template_id'] },
  ],
}

/** Approximate shares of the templates that match a filter. PostgreSQL has no statistics for these filters. */
const shares = { data: 0.02, search: 0.02, held: 0.8, nameless: 0.02 }

/** A request for templates, with its filters on attributes. */
export interface TemplateQuestion {
  readonly session: Session
  readonly values: TemplateValues
  readonly attributes: readonly AttributeFilter[]
}

/** List of the requested templates. */
export async function templateList(
  reader: ListReader,
  trigrams: boolean,
  { session, values, attributes }: TemplateQuestion,
): Promise<List> {
  const { statistics } = reader
  await statistics.refresh(session)
  const source = { table: TEMPLATES, alias: 't', column: 'collection_name' }
  const schemas = values.schema_name
  const filters = [
    ...(schemas
      ? [nameFilter('schema_name', schemas, statistics, { ...source, column: 'schema_name' })]
      : []),
    ...boundaryFilters(
      values,
      statistics,
      {
        table: TEMPLATES,
        alias: 't',
        key: 'template_id',
        type: 'integer',
        time: { column: 'created_at_time' },
      },
      values.template_id,
    ),
    ...collectionFilter(values, statistics, source),
    ...authorizedFilter(values.authorized_account, statistics, source),
    ...supplyFilters(values, statistics),
    ...flagFilters(values, statistics),
    ...dataFilters({ values, attributes, trigrams }, statistics),
  ]
  return { source: templateSource, table: TEMPLATES, filters, order: orderOf(values) }
}

function supplyFilters(values: TemplateValues, statistics: Statistics): Filter[] {
  const comparisons = [
    ['issued_supply', 'issued_supply', '='],
    ['min_issued_supply', 'issued_supply', '>='],
    ['max_issued_supply', 'issued_supply', '<='],
    ['max_supply', 'max_supply', '='],
  ] as const
  return comparisons.flatMap(([name, column, operator]) => {
    const value = values[name]
    if (value === undefined) return []
    const bound = BigInt(value)
    const rows =
      operator === '='
        ? statistics.equal(TEMPLATES, column, [value])
        : operator === '>='
          ? statistics.between(TEMPLATES, column, bound, undefined)
          : statistics.between(TEMPLATES, column, undefined, bound)
    return [
      {
        name,
        condition: sql`${raw(`t.${column} ${operator}`)} ${bind(value, 'bigint')}`,
        rows,
        columns: [column],
        isIndexed: column === 'issued_supply',
      },
    ]
  })
}

function flagFilters(values: TemplateValues, statistics: Statistics): Filter[] {
  const all = statistics.rows(TEMPLATES)
  const filters: Filter[] = []
  for (const flag of ['transferable', 'burnable'] as const) {
    const wanted = values[`is_${flag}` as const]
    if (wanted === undefined) continue
    filters.push({
      name: `is_${flag}`,
      condition: raw(wanted ? `t.${flag}` : `NOT t.${flag}`),
      rows: statistics.equal(TEMPLATES, flag, [wanted ? 't' : 'f']),
      columns: [flag],
      isIndexed: !wanted,
    })
  }
  if (values.include_deleted !== true) {
    filters.push({
      name: 'include_deleted',
      condition: raw('t.deleted_at_block IS NULL'),
      rows: statistics.equal(TEMPLATES, 'deleted_at_block', [null]),
      columns: ['deleted_at_block'],
      isIndexed: false,
    })
  }
  if (values.has_assets === true) {
    filters.push({
      name: 'has_assets',
      condition:
        raw(`EXISTS (SELECT FROM assets.template_counts k WHERE k.template_id = t.template_id AND k.minted > k.burned
          OFFSET 0)`),
      rows: all * shares.held,
      isIndexed: false,
      visits: 1,
    })
  }
  return filters
}

/** Filters on attributes and names of templates. A template matches if its immutable data or its mutable data match. */
function dataFilters(
  request: { values: TemplateValues; attributes: readonly AttributeFilter[]; trigrams: boolean },
  statistics: Statistics,
): Filter[] {
  const all = statistics.rows(TEMPLATES)
  const ofTemplates = request.attributes.filter(
    ({ family }) => family === 'data' || family === 'template_data',
  )
  if (ofTemplates.some(({ containments }) => containments.length === 0)) return [nothing('data')]
  // The values omit `is_transferable` and `is_burnable`, because `flagFilters` creates the filters of these two
  // parameters.
  const values = without(request.values, ['is_transferable', 'is_burnable'])
  const isSearched = Boolean(values.match) || Boolean(values.search)
  if (ofTemplates.length === 0 && !isSearched) return []
  const share = shares.data ** ofTemplates.length * (isSearched ? shares.search : 1)
  return [
    {
      name: [...ofTemplates.map(({ family }) => family), ...(isSearched ? ['match, search'] : [])].join(', '),
      condition: allOf(templateConditions({ ...request, values })),
      rows: Math.max(1, all * share),
      isIndexed: true,
    },
  ]
}

/**
 * Order of a list of templates. If the sort is `name`, templates without a name come first in descending order and last
 * in ascending order.
 */
function orderOf(values: TemplateValues): Order {
  const direction = directionOf(values)
  if (values.sort !== 'name') return { direction, segments: [{ rank: 0, column: 'template_id' }] }
  const isNull: Sql = sql`${TEMPLATE_NAME_HEAD} IS NULL`
  const value = sql`${TEMPLATE_NAME} COLLATE "C"`
  return {
    direction,
    segments: [
      {
        rank: 1,
        column: 'name',
        expression: TEMPLATE_NAME_HEAD,
        value,
        conditions: [sql`${TEMPLATE_NAME_HEAD} IS NOT NULL`],
        share: 1 - shares.nameless,
      },
      {
        rank: direction === 'DESC' ? 0 : 2,
        column: 'template_id',
        direction: 'ASC',
        value: raw('NULL::text COLLATE "C"'),
        conditions: [isNull],
        share: shares.nameless,
      },
    ],
    sorted: { value, nulls: direction === 'DESC' ? 'FIRST' : 'LAST' },
  }
}
