import type { Children, Column, RowValues, VerifiedTable } from '../tables/index.ts'
import type { Suspect } from './compare-table.ts'
import { keyText } from './key-set.ts'
import type { FoundDifference } from './verify.ts'

/** A statement with its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** What a repair does about a row. */
export interface PlannedRepair {
  readonly found: FoundDifference
  readonly statements: readonly Statement[]
  /** Why nothing can be written; null when the statements correct the row. */
  readonly impossible: string | null
}

/** The block that a repair writes at. */
export interface RepairBlock {
  readonly num: number
  readonly timeMs: bigint
}

/** Collects the parameters of a statement. */
class Parameters {
  readonly values: unknown[] = []

  add(value: unknown, type: string): string {
    this.values.push(type === 'jsonb' && value !== null ? JSON.stringify(value) : value)
    return `$${this.values.length}::${type}`
  }
}

/** What has to be written so that the database holds what the chain has. */
export function planRepair(found: FoundDifference, block: RepairBlock): PlannedRepair {
  const { table, chain } = found.suspect
  switch (found.difference.kind) {
    case 'differs':
      return planUpdate(found, chain!, block)
    case 'missing':
      if (table.insert === undefined)
        return impossible(found, 'what happened to it before is not known: restore a backup, or index again')
      return { found, statements: insertRow(table, found.suspect.key, chain!, block), impossible: null }
    case 'extra':
      return planRemoval(found, block)
  }
}

function impossible(found: FoundDifference, why: string): PlannedRepair {
  return { found, statements: [], impossible: why }
}

function planUpdate(found: FoundDifference, chain: RowValues, block: RepairBlock): PlannedRepair {
  const { table, key } = found.suspect
  const names = new Set(found.difference.columns.map(({ column }) => column))
  const columns = table.columns.filter(({ name }) => names.has(name))
  const fixed = columns.find(({ type, children }) => type === undefined && children === undefined)
  if (fixed)
    return impossible(found, `${fixed.name} follows from what happened: restore a backup, or index again`)
  const statements: Statement[] = []
  const own = columns.filter(({ children }) => children === undefined)
  if (own.length > 0) {
    const parameters = new Parameters()
    const sets = own.map((column) => `${writtenName(column)} = ${writeSql(column, chain, parameters)}`)
    const condition = keySql(table, key, parameters)
    statements.push({
      text: `UPDATE ${table.name} t SET ${sets.join(', ')} WHERE ${condition}`,
      values: parameters.values,
    })
  }
  for (const { name, children } of columns)
    if (children) statements.push(...replaceChildren({ table, key }, children, chain[name], block))
  statements.push(...completeRow(table, key))
  return { found, statements, impossible: null }
}

function planRemoval(found: FoundDifference, block: RepairBlock): PlannedRepair {
  const { table, key } = found.suspect
  const children = table.columns.flatMap((column) => column.children ?? [])
  const isOnlyChildren = children.length === table.columns.length
  if (table.remove === undefined && !isOnlyChildren)
    return impossible(found, 'how it ended is not known: restore a backup, or index again')
  const statements = children.map((one) => deleteChildren({ table, key }, one))
  if (table.remove !== undefined) {
    const parameters = new Parameters()
    const text = table.remove.replace('$block', String(block.num)).replace('$time', block.timeMs.toString())
    statements.push({
      text: `${text} WHERE ${keySql(table, key, parameters)}`,
      values: parameters.values,
    })
  }
  return { found, statements, impossible: null }
}

function insertRow(
  table: VerifiedTable,
  key: readonly string[],
  chain: RowValues,
  block: RepairBlock,
): Statement[] {
  const children = table.columns.filter((column) => column.children !== undefined)
  const own = table.columns.filter(({ type }) => type !== undefined)
  const statements: Statement[] = []
  if (children.length < table.columns.length) {
    const parameters = new Parameters()
    const cells = new Map<string, string>()
    table.key.forEach(({ name, type }, i) => cells.set(name, parameters.add(key[i], type)))
    for (const column of own) cells.set(writtenName(column), writeSql(column, chain, parameters))
    const written = own.map(writtenName)
    for (const [name, stamp] of Object.entries(table.insert ?? {})) cells.set(name, stampSql(stamp, block))
    statements.push({
      text: `INSERT INTO ${table.name} (${[...cells.keys()].join(', ')}) VALUES (${[...cells.values()].join(', ')})${onEnded(table, written)}`,
      values: parameters.values,
    })
  }
  for (const { name, children: one } of children)
    statements.push(...replaceChildren({ table, key }, one!, chain[name], block))
  statements.push(...completeRow(table, key))
  return statements
}

/** A row that the database has as ended while the chain has it is reopened: its other columns stay. */
function onEnded({ key, reopen }: VerifiedTable, written: readonly string[]): string {
  if (reopen === undefined) return ''
  const names = key.map(({ name }) => name).join(', ')
  const sets = [...written.map((name) => `${name} = EXCLUDED.${name}`), ...reopen]
  return ` ON CONFLICT (${names}) DO UPDATE SET ${sets.join(', ')}`
}

/** Writes what follows from the row and from others. */
function completeRow(table: VerifiedTable, key: readonly string[]): Statement[] {
  if (table.complete === undefined) return []
  const parameters = new Parameters()
  return [{ text: `${table.complete} WHERE ${keySql(table, key, parameters)}`, values: parameters.values }]
}

function stampSql(stamp: string, block: RepairBlock): string {
  if (stamp === 'time') return block.timeMs.toString()
  return stamp === 'block' ? String(block.num) : stamp.slice('sql:'.length)
}

const writtenName = ({ name, into }: Column) => into ?? name

function writeSql({ name, type, write }: Column, chain: RowValues, parameters: Parameters): string {
  const value = parameters.add(chain[name], type!)
  return write === undefined ? value : write.replace('$', () => value)
}

function keySql({ key }: VerifiedTable, values: readonly string[], parameters: Parameters): string {
  return key.map(({ name, type }, i) => `t.${name} = ${parameters.add(values[i], type)}`).join(' AND ')
}

/** A row of a table. */
type RowOfTable = Pick<Suspect, 'table' | 'key'>

function deleteChildren({ table, key }: RowOfTable, { table: name, by }: Children): Statement {
  const parameters = new Parameters()
  const matches = by.map((column, i) => `${column} = ${parameters.add(key[i], table.key[i]!.type)}`)
  return {
    text: `DELETE FROM ${name}${matches.length === 0 ? '' : ` WHERE ${matches.join(' AND ')}`}`,
    values: parameters.values,
  }
}

function replaceChildren(
  { table, key }: RowOfTable,
  children: Children,
  rows: unknown,
  block: RepairBlock,
): Statement[] {
  const parameters = new Parameters()
  const list = parameters.add(rows, 'jsonb')
  const cells = new Map<string, string>()
  children.by.forEach((name, i) => cells.set(name, parameters.add(key[i], table.key[i]!.type)))
  for (const name of Object.keys(children.columns)) cells.set(name, `c.${name}`)
  for (const [name, stamp] of Object.entries(children.stamps ?? {})) cells.set(name, stampSql(stamp, block))
  const shape = Object.entries(children.columns).map(([name, type]) => `${name} ${type}`)
  return [
    deleteChildren({ table, key }, children),
    {
      text: `INSERT INTO ${children.table} (${[...cells.keys()].join(', ')})
        SELECT ${[...cells.values()].join(', ')} FROM jsonb_to_recordset(${list}) AS c(${shape.join(', ')})`,
      values: parameters.values,
    },
  ]
}

/** What a planned repair does, for people. */
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

/** A value as short JSON. */
function shorten(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`
}
