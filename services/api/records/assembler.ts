import { packFields, packRows, readPairs, unpackRows } from '../database/index.ts'
import { shape } from '../endpoint/index.ts'
import type { NamedSchema } from '../endpoint/index.ts'
import type { Json } from '../json/index.ts'
import { raw, sql } from '../sql/index.ts'
import type { Sql } from '../sql/index.ts'
import type { FoundFragments, Fragment, FragmentKind, SharedRow } from './fragments/index.ts'
import { isOneOf } from './fragments/index.ts'
import { compileMembers, shapeOf } from './fields/index.ts'
import type { Compiled, Parts, RecordMembers } from './fields/index.ts'
import type { PageTexts, Selection, Assembler, PendingRecords } from './page.ts'
import { inOrder, wantedTogether } from './page.ts'

/** Input of the function `write` of a group of members, in addition to the columns of the group. */
export interface RowParts extends Parts {
  /**
   * One fragment for each element of `Declaration.shared`, in the same order; undefined if an optional fragment is
   * missing.
   */
  readonly shared: readonly Fragment[]
  /** Values of `Declaration.lists`, in the same order. */
  readonly lists: readonly ListValues[]
  /** JSON of the contained records, by key. */
  readonly contained: ReadonlyMap<string, Json>
  /** Position of the record in the answer, from 1. */
  readonly place: number
}

/** Values of a `KeyedList`, by the key of a record or by the key of a row that several records share. */
export type ListValues = ReadonlyMap<string, string>

/** Input of the reader and the writer of a record type, in addition to the `Declaration` of the record type. */
export interface RecordSettings {
  /** JSON values that are equal for all records. Members refer to a value by its name. */
  readonly given: Parts['given']
  /** Returns the time in ms since 1970, for kinds whose records depend on the time. */
  readonly clock?: () => number
}

/**
 * A value that each record of a page has, such as a JSON list. One query reads the values of all records of a page. A
 * value is found by the key of its record, or by the key of a row that several records share.
 */
export interface KeyedList {
  /**
   * SQL that returns the list as packed rows (see `packRows`). The SQL may read the rows of the page: a relation with
   * the name `Declaration.alias`.
   */
  readonly select: string | ((clock: () => number) => Sql)
  readonly read: (packed: string | null | undefined, given: Parts['given']) => ListValues
  /**
   * SQL of the value in the statement for a single record; may read the row of the record by its alias. If undefined, a
   * single record is read by the statement for pages.
   */
  readonly one?: string
}

/** Records that are contained in the records of a kind. */
export interface Contained {
  readonly kind: DeclaredKind
  /** SQL of an array with the keys of the contained records. */
  readonly keys: string
  /**
   * Selects the sizes of records, including the contained records.
   * @param rows the records.
   */
  readonly measure: (rows: ContainingRows) => Selection
}

/** Rows of records that contain other records. */
export interface ContainingRows {
  /**
   * WITH items, including the relation `relation` of the rows and the relation `contained` of the keys of contained
   * records.
   */
  readonly ctes: Selection['ctes']
  readonly relation: string
  readonly contained: string
  /** SQL expression of the key of a row. */
  readonly key: string
  /** SQL expressions of the columns of a row. */
  readonly texts: readonly string[]
  /** SQL expression of an array with the keys of the contained records. */
  readonly keys: string
}

/** Declares how the records of one kind are read and written. */
export interface Declaration {
  readonly title: string
  readonly description: string
  /** SQL alias of the record's table in `from`. The CTE with the rows of a page is named like this alias. */
  readonly alias: string
  /** SQL type of the keys of the records. */
  readonly keyType: string
  /** SQL expression of the key of a row. */
  readonly key: string
  /** SQL of the FROM items of a row. */
  readonly from: string | ((clock: () => number) => Sql)
  /**
   * SQL condition that finds a row by the key `p.k`, for rows that no single column identifies. Default: `key` is `p.k`,
   * and one bitmap scan reads the rows of a page.
   */
  readonly where?: string
  /** Whether the key determines the partition of the row; default false. */
  readonly isPartitioned?: boolean
  /** Further columns of the relation with the rows. Conditions and lists read these columns. */
  readonly further?: readonly string[]
  readonly members: RecordMembers<RowParts>
  readonly shared?: readonly SharedRow[]
  readonly lists?: readonly KeyedList[]
  readonly contained?: Contained
  /** Selects the sizes of records as packed rows: key, bytes of the record, and bytes that are read for the record. */
  readonly measure?: (keys: string) => Selection
  /** SQL expression: whether the rows are too large to be read at once. */
  readonly tooMuch?: string
  /** Condition that finds a row by the key `$1`, for the statement that reads a single record. */
  readonly one?: string
}

/** Declaration of a record type, with the values that `declareKind` derives from it. */
export interface DeclaredKind extends Declaration {
  readonly schema: NamedSchema
  readonly compiled: Compiled<RowParts>
  readonly sharedRows: readonly SharedRow[]
  /**
   * For each shared row: positions of columns in the record's row. `key`: the columns with the key of the shared row.
   * `version`: the column with the version of the shared row; -1 if the record's row has no such column.
   */
  readonly places: readonly { readonly key: readonly number[]; readonly version: number }[]
}

/** Declares a kind of record. Its JSON schema, its columns and its writer are derived from the declaration. */
export function declareKind(declaration: Declaration): DeclaredKind {
  const { title, description, alias, key, members, shared = [] } = declaration
  const keyColumns = shared.map(({ columns }) => columns.map((column) => `${alias}.${column}`))
  const versions = shared.flatMap(({ version }) => version ?? [])
  const leading = [...new Set([key, ...keyColumns.flat(), ...versions])]
  return {
    ...declaration,
    schema: shape.record(title, description, shapeOf(members)),
    compiled: compileMembers(members, leading),
    sharedRows: shared,
    places: shared.map(({ version = '' }, index) => ({
      key: keyColumns[index]!.map((column) => leading.indexOf(column)),
      version: leading.indexOf(version),
    })),
  }
}

/** Name of the relation from which contained records are selected. */
const CONTAINED = 'contained'

interface Reading extends RecordSettings {
  readonly kind: DeclaredKind
  readonly inner: Assembler | undefined
}

/** Creates the reader of the records of a kind. */
export function assemblerOf(kind: DeclaredKind, settings: RecordSettings): Assembler {
  const { contained, one } = kind
  const inner = contained && assemblerOf(contained.kind, settings)
  const reading: Reading = { kind, ...settings, inner }
  const measure = contained ? (keys: string) => measureContaining(reading, contained, keys) : kind.measure
  return {
    schema: kind.schema,
    keyType: kind.keyType,
    columnCount: pageColumns(reading).length + (inner?.columnCount ?? 0),
    select: isTimed(kind) ? (keys) => select(reading, keys) : remember((keys) => select(reading, keys)),
    read: (texts, keys) => readPage(reading, texts, keys),
    ...(measure && { measure }),
    ...(one !== undefined && { one: oneRow(reading, one) }),
  }
}

/** Whether a statement for the records of a kind contains the current time. */
function isTimed({ from, lists = [], contained }: Declaration): boolean {
  const isNamed = typeof from !== 'string' || lists.some((list) => typeof list.select !== 'string')
  return isNamed || (contained !== undefined && isTimed(contained.kind))
}

/**
 * Caches the built selection for each name of the relation with the keys. Building a selection takes 5 % of the time
 * for a page of 100 assets (2026-11-28).
 */
function remember(selection: (keys: string) => Selection): (keys: string) => Selection {
  const known = new Map<string, Selection>()
  return (keys) => {
    const found = known.get(keys) ?? selection(keys)
    known.set(keys, found)
    return found
  }
}

/** Names of the columns in the relation of the rows. A column of the record's table keeps its own name. */
function namesOf({ alias, compiled }: DeclaredKind): string[] {
  return compiled.columns.map((column, index) => {
    const own = column.startsWith(`${alias}.`) ? column.slice(alias.length + 1) : ''
    return /^(?!xmin$)\w+$/.test(own) ? own : `f${index}`
  })
}

function select(reading: Reading, keys: string): Selection {
  const { kind, inner } = reading
  const { tooMuch } = kind
  const own = { ctes: rowItems(reading, keys), columns: pageColumns(reading) }
  if (!inner) return tooMuch === undefined ? own : { ...own, tooMuch }
  const more = inner.select(CONTAINED)
  return { ...more, ctes: [...own.ctes, ...more.ctes], columns: [...own.columns, ...more.columns] }
}

/** WITH items: the rows of a page, and the keys of the contained records. */
function rowItems({ kind, clock = Date.now }: Reading, keys: string): Sql[] {
  const { alias, compiled, from, further = [], contained } = kind
  const names = namesOf(kind)
  const selected = [...compiled.columns.map((column, index) => `${column} AS ${names[index]!}`), ...further]
  const tables = typeof from === 'string' ? raw(from) : from(clock)
  const found = rowsOf(kind, sql`${raw(`SELECT ${selected.join(', ')} FROM `)}${tables}`, keys)
  const rows = sql`${raw(`${alias} AS MATERIALIZED (`)}${found}${raw(')')}`
  if (!contained) return [rows]
  const inner = `SELECT DISTINCT u.k FROM ${alias} CROSS JOIN LATERAL unnest(${contained.keys}) AS u(k)`
  return [rows, raw(`${CONTAINED} AS MATERIALIZED (${inner})`)]
}

/**
 * Selects the rows with the keys `k` of a relation. In a partitioned table, the least and the greatest key limit the
 * scan to the partitions of the page. Without `OFFSET 0` PostgreSQL may overestimate the number of keys and read a
 * whole table.
 */
function rowsOf({ alias, key, keyType, where, isPartitioned }: DeclaredKind, rows: Sql, keys: string): Sql {
  if (where !== undefined)
    return sql`${raw(`SELECT ${alias}.* FROM ${keys} p CROSS JOIN LATERAL (`)}${rows}${raw(` WHERE ${where} OFFSET 0) ${alias}`)}`
  const range = ` AND ${key} BETWEEN (SELECT min(k) FROM ${keys}) AND (SELECT max(k) FROM ${keys})`
  const condition = isOneOf(key, keyType, `SELECT k FROM ${keys}`)
  return sql`${rows}${raw(` WHERE ${condition}${isPartitioned === true ? range : ''}`)}`
}

/** Columns of the selection: the rows, the versions of the shared rows, and the lists. */
function pageColumns({ kind, clock = Date.now }: Reading): Sql[] {
  const { alias, sharedRows, lists = [] } = kind
  const fields = namesOf(kind).map((name) => `${alias}.${name}`)
  return [
    raw(`(SELECT ${packRows(fields)} FROM ${alias})`),
    ...sharedRows.filter(({ version }) => version === undefined).map(({ versions }) => raw(versions(alias))),
    ...lists.map((list) => (typeof list.select === 'string' ? raw(list.select) : list.select(clock))),
  ]
}

function measureContaining(reading: Reading, contained: Contained, keys: string): Selection {
  const { alias } = reading.kind
  const texts = namesOf(reading.kind).map((name) => `${alias}.${name}`)
  return contained.measure({
    ctes: rowItems(reading, keys),
    ...{ relation: alias, contained: CONTAINED, key: texts[0]!, texts, keys: contained.keys },
  })
}

function readPage(reading: Reading, texts: PageTexts, keys?: readonly string[]): PendingRecords {
  const { kind, inner, given } = reading
  const { sharedRows, places, lists = [] } = kind
  const unordered = unpackRows(texts[0])
  const rows = keys ? inOrder(unordered, keys) : unordered
  let at = 1
  const versions = new Map<FragmentKind, ReadonlyMap<string, string>>(
    sharedRows.map(({ kind: fragment, version }, index) => [
      fragment,
      version === undefined
        ? readPairs(texts[at++])
        : new Map(rows.map((row) => [keyOf(row, places[index]!.key), row[places[index]!.version]!])),
    ]),
  )
  const values = lists.map(({ read }) => read(texts[at++], given))
  return pendingRecords(reading, { rows, versions, lists: values }, inner?.read(texts.slice(at)))
}

interface ReadRows {
  readonly rows: readonly (readonly string[])[]
  readonly versions: ReadonlyMap<FragmentKind, ReadonlyMap<string, string>>
  readonly lists: readonly ListValues[]
}

const nothing: ReadonlyMap<string, Json> = new Map()

function pendingRecords(reading: Reading, read: ReadRows, inner?: PendingRecords): PendingRecords {
  const { kind, given } = reading
  const { rows, versions, lists } = read
  return {
    versions: inner ? wantedTogether(versions, inner.versions) : versions,
    assemble(found, before = 0) {
      const contained = inner?.assemble(found) ?? nothing
      const sharedOf = sharedFinder(kind, found)
      const records = new Map<string, Json>()
      for (const row of rows) {
        const shared = sharedOf(row)
        // A shared row is missing: a fork deleted the row after the record was read and before the fragments were read.
        if (!shared) continue
        const place = before + records.size + 1
        records.set(row[0]!, kind.compiled.record(row, { given, shared, lists, contained, place }))
      }
      return records
    },
  }
}

/**
 * Creates a function that finds the fragments of a row. The function returns undefined if a required fragment is
 * missing.
 */
function sharedFinder(
  { sharedRows, places }: DeclaredKind,
  found: FoundFragments,
): (row: readonly string[]) => Fragment[] | undefined {
  const sources = sharedRows.map(({ kind, isOptional }, index) => ({
    ...{ fragments: found.of(kind), isOptional, key: places[index]!.key },
  }))
  return (row) => {
    const shared: Fragment[] = []
    for (const { fragments, isOptional, key } of sources) {
      const fragment = fragments.get(keyOf(row, key))
      if (!fragment && !isOptional) return undefined
      shared.push(fragment!)
    }
    return shared
  }
}

function keyOf(row: readonly string[], columns: readonly number[]): string {
  const first = row[columns[0]!]!
  return columns.length === 1 ? first : `${first}/${row[columns[1]!]!}`
}

/** Selects the row with the key `$1`, the versions of its shared rows, and its lists. */
function oneRow(reading: Reading, condition: string): NonNullable<Assembler['one']> {
  const { title, alias, compiled, from, sharedRows, places, lists = [] } = reading.kind
  const further = [...sharedRows.map(({ one }) => one(alias)), ...lists.map(({ one }) => one!)]
  return {
    statement: {
      name: `one ${title}`,
      text: `SELECT ${packFields([...compiled.columns, ...further])} FROM ${from as string} WHERE ${condition}`,
    },
    read(text) {
      const [fields] = unpackRows(text)
      if (!fields) return pendingRecords(reading, { rows: [], versions: new Map(), lists: [] })
      const row = fields.slice(0, compiled.columns.length)
      const values = fields.slice(row.length)
      const versions = sharedRows.map(({ kind }, index): [FragmentKind, ReadonlyMap<string, string>] => {
        const version = values[index]!
        return [kind, version === '' ? new Map() : new Map([[keyOf(row, places[index]!.key), version]])]
      })
      const own = values.slice(sharedRows.length)
      const listed = own.map((value) => new Map(value === '' ? [] : [[row[0]!, value]]))
      return pendingRecords(reading, { rows: [row], versions: new Map(versions), lists: listed })
    },
  }
}
