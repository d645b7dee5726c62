import { Bindings } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { boundaryConditions, directionOf } from '../../paging/index.ts'
import { collectionLists, oneOf } from './asset-conditions.ts'
import { authorizedCondition } from './collection-list.ts'
import { INDEXED_NAME_LENGTH, TEMPLATE_NAME, templateDataConditions } from './template-conditions.ts'

/** The page of templates that a request asks for; keys are template ids. */
export function templateQuery(
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): PageQuery {
  const bindings = new Bindings()
  const columns = {
    key: 't.template_id',
    cast: 'integer',
    parameter: 'template_id',
    date: 't.created_at_time',
  } as const
  const conditions = [
    ...oneOf('t.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('t.schema_name', values.texts('schema_name'), bindings),
    ...boundaryConditions(values, columns, bindings),
    ...collectionLists('t.collection_name', values, bindings),
    ...authorizedCondition('t.collection_name', values, bindings),
    ...supplyConditions(values, bindings),
    ...flagConditions(values),
    ...templateDataConditions(values, attributes, trigrams, bindings),
  ]
  const direction = directionOf(values)
  // The null names of templates without one come first downwards and last upwards: PostgreSQL's own order.
  const order =
    values.text('sort') === 'name'
      ? `left(${TEMPLATE_NAME}, ${INDEXED_NAME_LENGTH}) COLLATE "C" ${direction}, ` +
        `${TEMPLATE_NAME} COLLATE "C" ${direction}, t.template_id`
      : `t.template_id ${direction}`
  return { key: 't.template_id', from: 'assets.templates t', conditions, order, bindings }
}

function supplyConditions(values: Values, bindings: Bindings): string[] {
  const comparisons = [
    ['issued_supply', 't.issued_supply ='],
    ['min_issued_supply', 't.issued_supply >='],
    ['max_issued_supply', 't.issued_supply <='],
    ['max_supply', 't.max_supply ='],
  ] as const
  return comparisons.flatMap(([name, comparison]) => {
    const value = values.int(name)
    return value === undefined ? [] : [`${comparison} ${bindings.bind(value, 'bigint')}`]
  })
}

function flagConditions(values: Values): string[] {
  const conditions: string[] = []
  const transferable = values.bool('is_transferable')
  const burnable = values.bool('is_burnable')
  if (transferable !== undefined) conditions.push(transferable ? 't.transferable' : 'NOT t.transferable')
  if (burnable !== undefined) conditions.push(burnable ? 't.burnable' : 'NOT t.burnable')
  if (values.bool('include_deleted') !== true) conditions.push('t.deleted_at_block IS NULL')
  if (values.bool('has_assets') === true) {
    conditions.push(
      'EXISTS (SELECT FROM assets.template_counts k WHERE k.template_id = t.template_id AND k.minted > k.burned)',
    )
  }
  return conditions
}
