/**
 * SQL condition of rows whose key is one of many, for a key with an index. One bitmap scan reads all rows.
 *
 * A bitmap scan asks the disk for many pages at the same time, so it reads rows that are not in memory sooner than
 * look-ups one after the other. PostgreSQL would choose an index scan if the condition were on the array alone, because
 * it expects the rows of ascending keys to be neighbours. The OR with a condition that no row meets excludes an index
 * scan.
 * @param key column of the key.
 * @param type SQL type of the key.
 * @param keys query of the keys.
 */
export function isOneOf(key: string, type: string, keys: string): string {
  return `(${key} = ANY(ARRAY(${keys})) OR ${key} = (SELECT NULL::${type}))`
}
