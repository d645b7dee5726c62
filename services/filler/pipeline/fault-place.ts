import { nameToString } from '../../core/antelope/index.ts'
import { ScannedAction } from '../decode/index.ts'
import type { ScannedRow } from '../decode/index.ts'

/** Part of a block that is being applied: an action, a row, or a stage of the work. */
export type Place = ScannedAction | ScannedRow | string

/** Where in a block a fault is, for messages: the action with its transaction, or the row with its key. */
export function describePlace(place: Place): string {
  if (typeof place === 'string') return place
  return place instanceof ScannedAction ? describeAction(place) : describeRow(place)
}

/** An action with its transaction. */
export function describeAction(action: ScannedAction): string {
  const name = `${nameToString(action.accountLo, action.accountHi)}::${nameToString(action.nameLo, action.nameHi)}`
  return `transaction ${Buffer.from(action.txid).toString('hex')}, action ${name} (global sequence ${action.globalSequence})`
}

function describeRow(row: ScannedRow): string {
  const table = `${nameToString(row.tableLo, row.tableHi)} of ${nameToString(row.codeLo, row.codeHi)}`
  return `row of table ${table} (scope ${row.scope}, primary key ${row.primaryKey()})`
}
