import { operatorFailures } from '../../services/core/database/index.ts'
import type { Happening, SessionFault } from './plan.ts'

/** The end of a filler that finds the lease with another one. */
export const LEASE_HELD = 'READER_LEASE_HELD'
/** The end of a filler whose lease another one took. */
export const LEASE_LOST = 'READER_LEASE_LOST'

const databaseErrors = ['DATABASE_UNAVAILABLE', 'DATABASE_REFUSED', LEASE_HELD, LEASE_LOST]

/** Codes with which a filler may end after a fault of a session. */
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

/** Codes with which a filler may end after something that happened. Everything else is a defect. */
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
    // A filler that ended for another reason may find the lease with the one that came beside it.
    case 'rival':
    case 'lost-lock':
      return [LEASE_HELD]
    default:
      return []
  }
}

/** Codes with which a filler may end when a node took back what it had called irreversible. */
export const deepForkExcuses = ['FORK_BELOW_IRREVERSIBLE', 'UNDO_JOURNAL_EXHAUSTED']
