import { packRows } from '../../database/index.ts'
import type { FragmentKind } from './fragments.ts'
import { isOneOf } from './is-one-of.ts'

/** A row that several records share. Records contain it as a fragment. */
export interface SharedRow {
  readonly kind: FragmentKind
  /** Columns of the record's row. Their values, joined by `/`, are the key of the shared row. */
  readonly columns: readonly string[]
  /** Whether the answer includes records whose shared row is missing. */
  readonly isOptional?: boolean
  /** Set if the shared row is the record's own row (see `ownRow`): SQL of the version of the row. */
  readonly version?: string
  /** SQL of the keys and versions of all shared rows of the records in a relation, as packed rows. */
  readonly versions: (relation: string) => string
  /** SQL of the version of a shared row, for the statement that reads a single record. */
  readonly one: (row: string) => string
}

/** Table with the shared rows. */
export interface SharedTable {
  readonly kind: FragmentKind
  readonly table: string
  readonly alias: string
  readonly columns: readonly string[]
  /** SQL type of the key, if the key is a single column. The rows are then read by one bitmap scan. */
  readonly keyType?: string
  /** SQL of the version of the shared row. Default: `version` of the fragment kind. */
  readonly version?: string
  readonly isOptional?: boolean
  readonly isGrouped?: boolean
}

/** Declares a shared row whose key columns have the same names in the table and in the record's row. */
export function sharedRow(table: SharedTable): SharedRow {
  const { kind, alias, columns, keyType, isGrouped = false, version = kind.version } = table
  const same = (row: string): string =>
    columns.map((column) => `${alias}.${column} = ${row}.${column}`).join(' AND ')
  const keys = columns.map((column) => `${alias}.${column}`)
  const key = keys.length === 1 ? keys[0]! : `concat(${keys.join(`, '/', `)})`
  const groupBy = isGrouped ? ` GROUP BY ${keys.join(', ')}` : ''
  return {
    kind,
    columns,
    ...(table.isOptional && { isOptional: true }),
    versions: (relation) => {
      const wanted = `SELECT DISTINCT ${columns.join(', ')} FROM ${relation}`
      const rows = `SELECT ${keys.join(', ')}, ${version} AS version FROM ${table.table} ${alias}`
      const found =
        keyType === undefined
          ? `(${wanted}) d CROSS JOIN LATERAL (${rows} WHERE ${same('d')}${groupBy} OFFSET 0) ${alias}`
          : `(${rows} WHERE ${isOneOf(key, keyType, wanted)}${groupBy}) ${alias}`
      return `(SELECT ${packRows([key, `${alias}.version`])} FROM ${found})`
    },
    one: (row) => `(SELECT ${version} FROM ${table.table} ${alias} WHERE ${same(row)})`,
  }
}

/**
 * Declares the record's own row as a shared row. The query that reads the record also returns the version of the row,
 * so no other query looks up the version.
 */
export function ownRow(row: SharedRow): SharedRow {
  return { ...row, version: row.kind.version }
}
