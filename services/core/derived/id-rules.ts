import { missingIds, numberedTables } from './numbered-tables.ts'
import type { NumberedTable } from './numbered-tables.ts'
import type { DerivedRule } from './rule.ts'

/**
 * SQL condition that the database has all rows of a family since the first block of the chain: the reader
 * started at the first block, the family was not added later, and no block was left out.
 */
export const knownFromFirst = (family: string): string => `
  EXISTS (SELECT 1 FROM chain.sources s JOIN chain.readers r ON r.name = s.reader
    LEFT JOIN chain.imports i ON i.reader = s.reader
    WHERE s.family = '${family}' AND s.first_block IS NULL AND i.history_since IS NULL
      AND (r.start_block <= 1 OR i.reader IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM chain.gaps g WHERE g.reader = s.reader))`

/**
 * The ids of a table have no gap up to the contract's counter. The first id is the contract's first id if the
 * database has the family's history from the first block on, otherwise the smallest id whose creation is stored.
 */
export function denseIds(numbered: NumberedTable): DerivedRule {
  const { table, id, first, family, created } = numbered
  const since = `(SELECT CASE WHEN ${knownFromFirst(family)} THEN ${first}
    ELSE (SELECT min(${id}) FROM ${table} WHERE ${created} > 0) END)`
  return {
    rule: `${table} has every ${id} that the contract has given out`,
    covers: { [table]: [id] },
    violations: `SELECT text FROM (${missingIds(numbered, since)}) m
      WHERE NOT EXISTS (SELECT 1 FROM chain.gaps)`,
  }
}

/** Rules for ids that a contract gives out in sequence: each table has every id up to the contract's counter. */
export const idRules: readonly DerivedRule[] = numberedTables.map(denseIds)
