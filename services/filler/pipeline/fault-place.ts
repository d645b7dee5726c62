import { nameToString } from '../../core/antelope/index.ts'
import { ScannedAction } from '../decode/index.ts'
import type { ScannedRow } from '../decode/index.ts'

/** The action, row or stage of a block that is being applied. */
export type Place = ScannedAction | ScannedRow | string

/** Text for messages: the action with its transaction, the row with its key, or the stage. */
export function describePlace(place: Place): string {
  if (typeof place === 'string') return place
  return place instanceof ScannedAction ? describeAction(place) : describeRow(place)
}

/** Text for messages: the name of the action, its transaction and global sequence. */
export function describeAction(action: ScannedAction): string {
  const name = `${nameToString(action.accountLo, action.accountHi)}::${nameToString(action.nameLo, action.nameHi)}`
  return `transaction ${Buffer.from(action.txid).toString('hex')}, action ${name} (global sequence ${action.globalSequence})`
}

function describeRow(row: ScannedRow): string {
  const table = `${nameToString(row.tableLo, row.tableHi)} of ${nameToString(row.codeLo, row.codeHi)}`
  return `row of table ${table} (scope ${row.scope}, primary key ${row.primaryKey()})`
}
