import type { Random } from '../../services/devchain/index.ts'

/** Database errors: at least one SQLSTATE of each class that a server may return to a writer. */
const refusals: readonly (readonly [state: string, message: string])[] = [
  ['08006', 'connection failure'],
  ['0A000', 'feature not supported'],
  ['22003', 'integer out of range'],
  ['23505', 'duplicate key value violates unique constraint'],
  ['25006', 'cannot execute UPDATE in a read-only transaction'],
  ['25P02', 'current transaction is aborted'],
  ['28000', 'invalid authorization specification'],
  ['40001', 'could not serialize access due to concurrent update'],
  ['40P01', 'deadlock detected'],
  ['42501', 'permission denied for table readers'],
  ['42P01', 'relation "chain.readers" does not exist'],
  ['53100', 'could not extend file "base/5/16384": No space left on device'],
  ['53200', 'out of memory'],
  ['53300', 'sorry, too many clients already'],
  ['54000', 'program limit exceeded'],
  ['55P03', 'could not obtain lock on relation "readers"'],
  ['57014', 'canceling statement due to statement timeout'],
  ['57P01', 'terminating connection due to administrator command'],
  ['57P02', 'terminating connection because of crash of another server process'],
  ['57P03', 'the database system is starting up'],
  ['58030', 'could not read block 0 in file "base/5/16384": Input/output error'],
  ['58030', 'could not write to file "pg_wal/xlogtemp.1": No space left on device'],
  ['XX000', 'could not open relation with OID 16384'],
  ['XX001', 'invalid page in block 0 of relation base/5/16384'],
]

/** SQLSTATE classes of `refusals`. */
export const refusalClasses: readonly string[] = [...new Set(refusals.map(([state]) => state.slice(0, 2)))]

/** Picks a random database error. */
export function drawRefusal(random: Random): { state: string; message: string } {
  const [state, message] = random.pick(refusals)
  return { state, message }
}
