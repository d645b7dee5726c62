/** A commit that changes no row: answers that were cached before it are not given any more. */
export const COMMIT = 'SELECT pg_current_xact_id()'

/** Milliseconds between two commits: two a second, as on a chain. */
export const COMMIT_EVERY_MS = 500
