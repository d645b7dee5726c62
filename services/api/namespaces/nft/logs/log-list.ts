import { bind, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List } from '../../../planner/index.ts'
import { directionOf } from '../paging/index.ts'
import type { ActionValues } from './parameters.ts'
import type { OrderValues } from '../paging/index.ts'

/**
 * Table of the logs of a contract family, indexed by the id of the object that the entry is about, and by sequence
 * number.
 */
export interface LogTable {
  /**
   * FROM item of the log with the SQL alias `l` and the columns `seq`, `subject` (id of the object that the entry is
   * about) and `action`.
   */
  readonly from: Sql
  /** Schema-qualified name, such as `assets.offers`. `Statistics` stores row estimates by this name. */
  readonly table: string
  /** SQL of the table that maps the codes of actions to their names. */
  readonly actions: Sql
}

/** The logs that a request selects. */
export interface WantedLogs {
  /** Id of the asset, listing or other subject whose logs are requested. */
  readonly id: bigint
  /** Names of the requested actions. */
  readonly actions: readonly string[]
  readonly further?: readonly Filter[]
}

/** List of the log entries of one asset, listing or other object, in the order of their sequence numbers. */
export function logList(
  { from, table, actions: names }: LogTable,
  { id, actions, further = [] }: WantedLogs,
  values: OrderValues,
): List {
  // Ids of assets, offers and templates overlap. The action of an entry determines which of them the id means.
  const codes = sql`ARRAY(SELECT n.action FROM ${names} n WHERE n.name = ANY(${bind(actions, 'text[]')}))`
  const filters: Filter[] = [
    {
      name: 'subject',
      condition: sql`l.subject = ${bind(id, 'bigint')}`,
      rows: 1,
      equals: { column: 'subject', values: [id], type: 'bigint', count: 1 },
      columns: ['subject'],
      isIndexed: false,
    },
    {
      name: 'actions',
      condition: sql`l.action = ANY(${codes})`,
      rows: 1,
      columns: ['action'],
      isIndexed: false,
    },
    ...further,
  ]
  return {
    source: {
      from,
      alias: 'l',
      key: 'seq',
      indexes: [{ name: 'logs_subject_idx', columns: ['subject', 'seq'] }],
    },
    table,
    filters,
    order: { direction: directionOf(values), segments: [{ rank: 0, column: 'seq' }] },
  }
}

/** The actions of an endpoint that a request selects; unknown names are ignored. */
export function chosenActions(actions: readonly string[], values: ActionValues): string[] {
  const { action_whitelist: white, action_blacklist: black } = values
  return actions.filter((name) => white?.includes(name) !== false && black?.includes(name) !== true)
}
