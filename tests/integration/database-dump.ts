import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/** Rows of all tables as text, by schema-qualified table name; the first line of each table holds the column names. */
export type DatabaseDump = ReadonlyMap<string, readonly string[]>

/** Tables whose content depends on processes and times rather than on the chain. */
const volatileTables = [
  'chain.leases',
  'chain.heartbeats',
  // The content of the feed depends on when blocks were read, so only the tests of the feed compare the tables of the
  // feed.
  'chain.feeds',
  'chain.feed',
  'chain.tasks',
  // The progress of sealing depends on timing, so only the tests of seals compare `chain.sealed` and `chain.seals`.
  'chain.sealed',
  'chain.seals',
  'public.pronghorn_migrations',
]

/** Maximum number of rows of one table in a list of differences. */
const ROWS_SHOWN = 3

/**
 * Reads all rows of all tables in one snapshot, sorted independently of how the rows were written. Databases with
 * equal dumps have the same content, byte for byte.
 */
export async function dumpDatabase(address: DatabaseAddress): Promise<DatabaseDump> {
  const client = await connectDatabase(address, { applicationName: 'test dump' })
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const { rows: tables } = await client.query<{ name: string; columns: string }>(
      `SELECT n.nspname || '.' || c.relname AS name, string_agg(a.attname, ',' ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)'
         AND n.nspname || '.' || c.relname <> ALL($1)
       GROUP BY 1 ORDER BY 1`,
      [volatileTables],
    )
    // All tables in one query: most are empty, and a query per table would cost more.
    const { rows } = await client.query<{ at: number; row: string }>(
      `${tables.map(({ name }, at) => `SELECT ${at} AS at, t::text COLLATE "C" AS row FROM ${name} t`).join(' UNION ALL ')} ORDER BY 1, 2`,
    )
    const dump = new Map(tables.map(({ name, columns }) => [name, [`(${columns})`]]))
    for (const { at, row } of rows) dump.get(tables[at]!.name)!.push(row)
    return dump
  } finally {
    await client.end()
  }
}

/** Lists the tables and rows in which two dumps differ; empty if they are equal. */
export function compareDumps(expected: DatabaseDump, found: DatabaseDump): string[] {
  const names = [...new Set([...expected.keys(), ...found.keys()])].sort()
  return names.flatMap((name) => compareRows(name, expected.get(name) ?? [], found.get(name) ?? []))
}

function compareRows(name: string, expected: readonly string[], found: readonly string[]): string[] {
  const missing = subtract(expected, found)
  const extra = subtract(found, expected)
  return [...describeRows(name, 'lacks', missing), ...describeRows(name, 'has besides', extra)]
}

/** Removes from `rows` one equal row for each row of `others`. */
function subtract(rows: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const row of others) counts.set(row, (counts.get(row) ?? 0) + 1)
  return rows.filter((row) => {
    const count = counts.get(row) ?? 0
    if (count > 0) counts.set(row, count - 1)
    return count === 0
  })
}

function describeRows(name: string, verb: string, rows: readonly string[]): string[] {
  const shown = rows.slice(0, ROWS_SHOWN).map((row) => `${name} ${verb} ${row}`)
  const rest = rows.length - shown.length
  return rest > 0 ? [...shown, `${name} ${verb} ${rest} more`] : shown
}

/** Total number of rows in all tables of a dump. */
export function countRows(dump: DatabaseDump): number {
  let count = 0
  for (const rows of dump.values()) count += rows.length - 1
  return count
}
