import { operatorFailures } from '../../services/core/database/index.ts'
import type { Happening, SessionFault } from './plan.ts'

/** Error code of a filler that finds its lease held by another filler. */
export const LEASE_HELD = 'READER_LEASE_HELD'
/** Error code of a filler that has lost its lease to another filler. */
export const LEASE_LOST = 'READER_LEASE_LOST'

const databaseErrors = ['DATABASE_UNAVAILABLE', 'DATABASE_REFUSED', LEASE_HELD, LEASE_LOST]

/** Error codes with which a filler may exit after a session fault, by kind of fault. */
const ofSessions: Readonly<Record<SessionFault['kind'], readonly string[]>> = {
  duplicate: [],
  missing: ['SHIP_RANGE_MISSING'],
  garbage: ['SHIP_PROTOCOL', 'SHIP_BLOCK_UNREADABLE'],
  truncated: ['SHIP_PROTOCOL', 'SHIP_BLOCK_UNREADABLE'],
  empty: ['SHIP_RANGE_MISSING'],
  incomplete: ['SHIP_BLOCK_UNREADABLE'],
  late: [],
  'half-open': [],
  dripping: [],
  'lost-rewinds': [],
  cut: [],
  'no-protocol': ['SHIP_PROTOCOL'],
}

/** Error codes with which a filler may exit after an event of the plan. All other codes are defects. */
export function excusesOf(happening: Happening): readonly string[] {
  switch (happening.kind) {
    case 'sessions':
      return happening.faults.flatMap(({ kind }) => ofSessions[kind])
    case 'refuse':
      return [...databaseErrors, ...operatorFailures, 'DATABASE_ERROR']
    case 'end-database-sessions':
    case 'cancel-statements':
    case 'cut-database':
    case 'database-unavailable':
    case 'freeze-database':
    case 'sigkill':
    case 'zombie':
    case 'kill-in-undo':
      return databaseErrors
    // The first filler may exit for another reason, and the second filler may then take the lease. The restarted first
    // filler exits with LEASE_HELD.
    case 'rival':
    case 'lost-lock':
      return [LEASE_HELD]
    default:
      return []
  }
}

/** Error codes that a node may cause by undoing blocks that it had reported as irreversible. */
export const deepForkExcuses = ['FORK_BELOW_IRREVERSIBLE', 'UNDO_JOURNAL_EXHAUSTED']
