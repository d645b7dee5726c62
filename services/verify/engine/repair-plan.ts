import { isWhole } from '../checked/index.ts'
import type { Coverage } from '../checked/index.ts'
import type { Children, Column, RowValues, VerifiedTable } from '../tables/index.ts'
import type { Suspect } from './compare-table.ts'
import { keyText } from './key-set.ts'
import type { FoundDifference } from './verify.ts'

/** An SQL statement with the values of its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Planned repair of one row. */
export interface PlannedRepair {
  readonly found: FoundDifference
  readonly statements: readonly Statement[]
  /** Reason why the row cannot be repaired; null if `statements` repair the row. */
  readonly impossible: string | null
}

/** Numbers the parameters of an SQL statement, and collects their values. */
class Parameters {
  readonly values: unknown[] = []

  add(value: unknown, type: string): string {
    this.values.push(type === 'jsonb' && value !== null ? JSON.stringify(value) : value)
    return `$${this.values.length}::${type}`
  }
}

/**
 * Statements that write the chain's values into the database. They write no other value, so a repaired row equals the
 * row before the damage.
 *
 * @param absenceDoubt reason why the chain may have a row that the source lacks; such a row is not removed then.
 */
export function planRepair(
  found: FoundDifference,
  coverage: Coverage,
  absenceDoubt: string | null,
): PlannedRepair {
  switch (found.difference.kind) {
    case 'differs':
      return planUpdate(found, coverage)
    case 'missing':
      return planInsert(found, coverage)
    case 'extra':
      return absenceDoubt === null
        ? planRemoval(found)
        : { found, statements: [], impossible: `${absenceDoubt}: compare with a node at the committed block` }
  }
}

function impossible(found: FoundDifference, why: string): PlannedRepair {
  return { found, statements: [], impossible: `${why}: restore a backup, or index again` }
}

function planUpdate(found: FoundDifference, coverage: Coverage): PlannedRepair {
  const { table, key, chain, database } = found.suspect
  const names = new Set(found.difference.columns.map(({ column }) => column))
  const columns = table.columns.filter(({ name }) => names.has(name))
  const fixed = columns.find(({ type, children }) => type === undefined && children === undefined)
  if (fixed)
    return impossible(
      found,
      `the chain table does not contain ${fixed.name}, which actions in earlier blocks have set`,
    )
  const vague = columns.find(({ name, unsure }) => isUnsure(chain![name], unsure))
  if (vague)
    return impossible(
      found,
      `the node replaced bytes of ${vague.name} that are not UTF-8, so the stored value is unknown`,
    )
  const statements: Statement[] = []
  const own = columns.filter(({ children }) => children === undefined)
  if (own.length > 0) {
    const parameters = new Parameters()
    const sets = own.map((column) => `${column.name} = ${writeSql(column, chain!, parameters)}`)
    const condition = keySql(table, key, parameters)
    statements.push({
      text: `UPDATE ${table.name} t SET ${sets.join(', ')} WHERE ${condition}`,
      values: parameters.values,
    })
  }
  for (const { name, children } of columns) {
    if (!children) continue
    if (isWhole(coverage, children.table)) {
      statements.push(...replaceChildren({ table, key }, children, chain![name]))
      continue
    }
    if (lacksChild(children, chain![name], database![name]))
      return impossible(
        found,
        `${children.table} lacks a row, and the block in which the row changed is unknown`,
      )
    statements.push(...updateChildren({ table, key }, children, chain![name]))
  }
  return { found, statements, impossible: null }
}

function isUnsure(value: unknown, unsure: string | undefined): boolean {
  return unsure !== undefined && typeof value === 'string' && value.includes(unsure)
}

/** Inserts a row that the database lacks, if the chain row determines every column. */
function planInsert(found: FoundDifference, coverage: Coverage): PlannedRepair {
  const { table, key, chain } = found.suspect
  const isAll =
    table.where === undefined &&
    table.columns.every(({ type, children }) =>
      children ? isWhole(coverage, children.table) : type !== undefined,
    ) &&
    (ownColumns(table).length === 0 || isWhole(coverage, table.name))
  if (!isAll) return impossible(found, 'the chain does not contain the earlier changes of the row')
  const statements: Statement[] = []
  const own = ownColumns(table)
  if (own.length > 0) {
    const parameters = new Parameters()
    const cells = new Map<string, string>()
    table.key.forEach(({ name, type }, i) => cells.set(name, parameters.add(key[i], type)))
    for (const column of own) cells.set(column.name, writeSql(column, chain!, parameters))
    statements.push({
      text: `INSERT INTO ${table.name} (${[...cells.keys()].join(', ')}) VALUES (${[...cells.values()].join(', ')})`,
      values: parameters.values,
    })
  }
  for (const { name, children } of table.columns)
    if (children) statements.push(...replaceChildren({ table, key }, children, chain![name]))
  return { found, statements, impossible: null }
}

/**
 * Deletes a row that the chain does not have, if the database table contains only rows that exist on the chain. A table
 * that also contains ended rows, such as burned assets, cannot be repaired: it is unknown how the row ended.
 */
function planRemoval(found: FoundDifference): PlannedRepair {
  const { table, key } = found.suspect
  // Child rows without a key of their parent belong to the only parent row.
  const statements = table.columns.flatMap(({ children }) =>
    children && children.by.length > 0 ? [deleteChildren({ table, key }, children)] : [],
  )
  const parameters = new Parameters()
  if (table.clears) {
    const sets = table.clears.map((name) => `${name} = NULL`)
    const text = `UPDATE ${table.name} t SET ${sets.join(', ')} WHERE ${keySql(table, key, parameters)}`
    return { found, statements: [...statements, { text, values: parameters.values }], impossible: null }
  }
  if (table.where !== undefined)
    return impossible(
      found,
      'the row no longer exists on the chain, and the chain does not show what removed the row',
    )
  if (ownColumns(table).length > 0) {
    const text = `DELETE FROM ${table.name} t WHERE ${keySql(table, key, parameters)}`
    statements.push({ text, values: parameters.values })
  }
  return { found, statements, impossible: null }
}

function ownColumns({ columns }: VerifiedTable): readonly Column[] {
  return columns.filter(({ children }) => children === undefined)
}

function writeSql({ name, type, write }: Column, chain: RowValues, parameters: Parameters): string {
  const value = parameters.add(chain[name], type!)
  return write === undefined ? value : write.replace('$', () => value)
}

function keySql({ key }: VerifiedTable, values: readonly string[], parameters: Parameters): string {
  return key.map(({ name, type }, i) => `t.${name} = ${parameters.add(values[i], type)}`).join(' AND ')
}

type RowOfTable = Pick<Suspect, 'table' | 'key'>

function deleteChildren({ table, key }: RowOfTable, { table: name, by }: Children): Statement {
  const parameters = new Parameters()
  const matches = by.map((column, i) => `${column} = ${parameters.add(key[i], table.key[i]!.type)}`)
  return {
    text: `DELETE FROM ${name}${matches.length === 0 ? '' : ` WHERE ${matches.join(' AND ')}`}`,
    values: parameters.values,
  }
}

/** SQL FROM item, with alias c, of the child rows that the chain has. */
function childRows(children: Children, rows: unknown, parameters: Parameters): string {
  const shape = Object.entries(children.columns).map(([name, type]) => `${name} ${type}`)
  return `jsonb_to_recordset(${parameters.add(rows, 'jsonb')}) AS c(${shape.join(', ')})`
}

function replaceChildren({ table, key }: RowOfTable, children: Children, rows: unknown): Statement[] {
  const parameters = new Parameters()
  const from = childRows(children, rows, parameters)
  const cells = new Map<string, string>()
  children.by.forEach((name, i) => cells.set(name, parameters.add(key[i], table.key[i]!.type)))
  for (const name of Object.keys(children.columns)) cells.set(name, `c.${name}`)
  return [
    deleteChildren({ table, key }, children),
    {
      text: `INSERT INTO ${children.table} (${[...cells.keys()].join(', ')}) SELECT ${[...cells.values()].join(', ')} FROM ${from}`,
      values: parameters.values,
    },
  ]
}

type ChildRow = Readonly<Record<string, unknown>>

function lacksChild({ unique }: Children, chain: unknown, database: unknown): boolean {
  const held = new Set((database as ChildRow[]).map((row) => row[unique!]))
  return (chain as ChildRow[]).some((row) => !held.has(row[unique!]))
}

/** Updates the child rows in the database, and deletes child rows that the chain does not have. */
function updateChildren({ table, key }: RowOfTable, children: Children, rows: unknown): Statement[] {
  const statement = (build: (from: string, belongs: string) => string): Statement => {
    const parameters = new Parameters()
    const from = childRows(children, rows, parameters)
    const matches = children.by.map((name, i) => `t.${name} = ${parameters.add(key[i], table.key[i]!.type)}`)
    return { text: build(from, matches.join(' AND ')), values: parameters.values }
  }
  const unique = children.unique!
  const written = Object.keys(children.columns).filter((name) => name !== unique)
  return [
    statement(
      (from, belongs) =>
        `DELETE FROM ${children.table} t WHERE ${belongs} AND NOT EXISTS (SELECT 1 FROM ${from} WHERE c.${unique} = t.${unique})`,
    ),
    statement(
      (from, belongs) =>
        `UPDATE ${children.table} t SET ${written.map((name) => `${name} = c.${name}`).join(', ')} FROM ${from} WHERE ${belongs} AND c.${unique} = t.${unique}`,
    ),
  ]
}

/** Text of a planned repair for the operator. */
export function describeRepair({ found, impossible: why }: PlannedRepair): string {
  const { table, kind, key, columns } = found.difference
  const row = `${table} ${key || keyText(found.suspect.key)}`
  if (why !== null) return `${row}: cannot be repaired: ${why}`
  if (kind === 'missing') return `${row}: added`
  if (kind === 'extra') return `${row}: removed`
  const changes = columns.map(
    ({ column, chain, database }) => `${column} ${shorten(database)} -> ${shorten(chain)}`,
  )
  return `${row}: ${changes.join('; ')}`
}

const SHOWN = 120

/** JSON of a value for the operator, cut if it is long. */
function shorten(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`
}
