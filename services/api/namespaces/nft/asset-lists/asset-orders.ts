import { PreparedNames, raw, sql, where } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Branch, Driven, Order } from '../../../planner/sources/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import { assetsOfTemplates, assetsWithoutValue, OWN_NAME, OWN_NAME_HEAD } from './asset-source.ts'
import type { AssetRequest } from './asset-filters.ts'
import { timeOfSort } from './asset-filters.ts'
import { mintOrder } from './mint-order.ts'

import { TEMPLATE_NAME_HEAD } from '../template-name.ts'
import { templateScope } from './template-scope.ts'

const FIXED_NAME = raw(`(t.immutable_data ->> 'name')`)
const CHANGING_NAME = raw(`(t.mutable_data ->> 'name')`)
/**
 * Name of the merged data: the immutable one of the template, else the asset's, else the mutable one of the template.
 */
const NAME = sql`coalesce(${FIXED_NAME}, ${OWN_NAME}, ${CHANGING_NAME}) COLLATE "C"`
/** Statement names of the query for the first asset of a template. */
const firstAssets = new PreparedNames(8)
/** Share of the assets with a name of their own, if PostgreSQL has no statistics. */
const OWN_NAMES = 0.1

/** The order of a request for assets. Assets without mint number or name come last in both directions. */
export async function assetOrder(
  request: AssetRequest,
  filters: readonly Filter[],
  session: Session,
): Promise<Order> {
  const { values } = request
  const direction = values.order === 'asc' ? 'ASC' : 'DESC'
  const sort = values.sort ?? ''
  const time = timeOfSort[sort]
  if (time !== undefined) return { direction, branches: [{ rank: 0, column: time }] }
  if (sort === 'template_mint' && !(await haveOrderOfMints(filters, session)))
    return mintOrder(direction, request)
  if (sort === 'name') return nameOrder(direction, request)
  return { direction, branches: [{ rank: 0, column: 'asset_id' }] }
}

/**
 * Whether mint numbers ascend with the ids. True within one template, unless its first assets have no number, as after
 * an import of the chain state.
 */
async function haveOrderOfMints(filters: readonly Filter[], session: Session): Promise<boolean> {
  const template = filters.find(({ equals }) => equals?.column === 'template_id' && equals.count === 1)
  if (!template) return false
  const query = sql`SELECT a.template_mint IS NOT NULL FROM assets.assets a WHERE ${template.condition}
    ORDER BY a.asset_id LIMIT 1`
  const [first] = await session.query<[isNumbered: boolean]>(firstAssets.prepared(query.render()))
  return first?.[0] !== false
}

function nameOrder(direction: 'ASC' | 'DESC', request: AssetRequest): Order {
  // OFFSET 0 is an optimization fence: without it the planner joins all rows before the LIMIT.
  const named = (condition: string): Sql =>
    raw(
      `EXISTS (SELECT FROM assets.templates t WHERE t.template_id = a.template_id AND ${condition} OFFSET 0)`,
    )
  const ofTemplates: Branch = {
    rank: 0,
    column: 'name of the template',
    driven: templatesByName(direction, request),
  }
  return {
    direction,
    branches: [
      ...(request.values.template_id === null ? [] : [ofTemplates]),
      {
        rank: 0,
        column: 'own_name',
        expression: OWN_NAME_HEAD,
        value: sql`${OWN_NAME} COLLATE "C"`,
        conditions: [
          sql`${OWN_NAME} IS NOT NULL`,
          sql`NOT ${named(`t.immutable_data ->> 'name' IS NOT NULL`)}`,
        ],
        share: OWN_NAMES,
        ...ownNamesOfTemplates(direction, request),
      },
      assetsWithoutValue(
        'text COLLATE "C"',
        [
          sql`${OWN_NAME} IS NULL`,
          sql`NOT ${named(`coalesce(t.immutable_data ->> 'name', t.mutable_data ->> 'name') IS NOT NULL`)}`,
        ],
        OWN_NAMES,
      ),
    ],
    sorted: {
      from: raw('assets.assets a LEFT JOIN assets.templates t ON t.template_id = a.template_id'),
      value: NAME,
    },
  }
}

/** Assets with a name of their own, via the templates that a filter selects. */
function ownNamesOfTemplates(direction: 'ASC' | 'DESC', request: AssetRequest): { driven?: Driven } {
  if (request.templates.kind !== 'ids') return {}
  const { conditions, applied, templates } = templateScope(request)
  const unnamed = where([...conditions, raw(`t.immutable_data ->> 'name' IS NULL`)])
  const driven: Driven = {
    applied,
    rows: request.templates.unnamed,
    drivers: templates,
    rowsOfEach: request.templates.unnamed / Math.max(1, templates),
    isSorted: true,
    query: (checks, wanted) => sql`SELECT a.asset_id AS k, ${OWN_NAME} COLLATE "C" AS v
      FROM (SELECT t.template_id FROM assets.templates t ${unnamed} OFFSET 0) t JOIN assets.assets a USING (template_id)
      ${where(checks)} ORDER BY v ${raw(direction)} FETCH FIRST ${raw(String(wanted))} ROWS WITH TIES`,
  }
  return { driven }
}

/** Assets with the name of their template, via the templates in the order of names. */
function templatesByName(direction: 'ASC' | 'DESC', request: AssetRequest): Driven {
  const { conditions, applied, isWide, templates, assets } = templateScope(request)
  const rowsOfEach = assets / Math.max(1, templates)
  const name = sql`coalesce(${FIXED_NAME}, ${CHANGING_NAME}) COLLATE "C"`
  return {
    applied,
    rows: assets,
    // Without a filter on templates, an index has the first templates of the order, so none has to be collected.
    drivers: isWide ? 0 : templates,
    rowsOfEach,
    query(checks, wanted, budget) {
      const columns = sql`t.template_id, ${name} AS value, ${FIXED_NAME} IS NOT NULL AS is_fixed`
      const drivers = isWide
        ? sql`SELECT ${columns}, ${TEMPLATE_NAME_HEAD} AS head FROM assets.templates t
          ${where([sql`${TEMPLATE_NAME_HEAD} IS NOT NULL`, ...conditions])} ORDER BY 4 ${raw(direction)}, 2 ${raw(direction)}`
        : sql`SELECT ${columns} FROM assets.templates t
          ${where([sql`${name} IS NOT NULL`, ...conditions])} ORDER BY 2 ${raw(direction)}`
      const own = [sql`(t.is_fixed OR ${OWN_NAME} IS NULL)`, ...checks]
      const head = isWide ? { head: 'head' } : {}
      return assetsOfTemplates({ drivers, conditions: own, direction, ...head, wanted, budget, rowsOfEach })
    },
  }
}
