/**
 * SQL expression that names the state of the database that a statement sees: two statements with the same name see the
 * same rows, for it says which transactions have ended, of which run of the server. Null on a standby, whose snapshots
 * do not tell all of that.
 */
export const MOMENT = `CASE WHEN NOT pg_is_in_recovery()
  THEN concat(pg_postmaster_start_time(), ' ', pg_current_snapshot()) END`
