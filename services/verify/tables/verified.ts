import { nameToBigInt } from '../../core/antelope/index.ts'
import { bytesToHex } from '../../core/bytes/index.ts'
import { scope } from '../../core/model/contract/index.ts'
import type { ChildRows, ContractRow, ContractTable } from '../../core/model/contract/index.ts'
import type { ColumnValue } from '../../core/model/index.ts'
import type { Children, Column, Place, RowValues, VerifiedTable } from './table.ts'

/** Facts of a table that only comparison and repair need; the model defines how columns follow from chain rows. */
interface About extends Pick<VerifiedTable, 'label' | 'where' | 'ended' | 'clears'> {
  /** Columns with free text. Bytes that are not UTF-8 count as equal, because decoders print them differently. */
  readonly freeText?: readonly string[]
  /** Columns that are compared but that a repair does not write. */
  readonly fixed?: readonly string[]
  /** SQL condition by column under which the database value is unknown and not compared. */
  readonly unknown?: Readonly<Record<string, string>>
}

/** A table of a contract, as the comparison reads it. */
export function verifiedTable(contract: ContractTable, about: About = {}): VerifiedTable {
  const { table, key, columns } = contract
  const own = Object.keys(columns).filter((name) => !key.includes(name))
  const { freeText, fixed, unknown, ...rest } = about
  return {
    ...rest,
    name: table.name,
    family: contract.family,
    contractTable: contract.name,
    key: key.map((name) => ({ name, type: table.columns[name]!.type })),
    columns: [
      ...own.map((name) => comparedColumn(contract, name, about)),
      ...contract.children.map((children) => ({ name: children.name, children: childrenOf(children) })),
    ],
    // A table without columns of its own stores only child rows: its distinct keys are the parent rows.
    from: own.length > 0 ? `${table.name} t` : `(SELECT DISTINCT ${key.join(', ')} FROM ${table.name}) t`,
    ...('collection_name' in columns ? { collection: 'collection_name' } : {}),
    scopedByCollection: scopeColumn(contract) === 'collection_name',
    expect: expectation(contract, own, freeText ?? []),
    locate: (values, others, account) => placeOf(contract, { key: values, values: others, account }),
  }
}

/** Converts a chain row to the form in which chain rows and database rows are compared. */
function expectation(
  { table, key, columns, children }: ContractTable,
  own: readonly string[],
  freeText: readonly string[],
): VerifiedTable['expect'] {
  const keys = key.map((name) => columns[name]!)
  const read = own.map((name) => ({ name, reader: columns[name]!, form: formOf(table.columns[name]!.type) }))
  return ({ scope: scopeName, data }, formats) => {
    const row = { scope: scopeName, data, formats }
    const values: Record<string, unknown> = {}
    for (const { name, reader, form } of read) {
      const value = reader(row)
      values[name] = value === null ? null : form(value)
    }
    for (const name of freeText) values[name] = printable(values[name] as string)
    for (const list of children) values[list.name] = expectedChildren(list, row)
    return { key: keys.map((reader) => String(reader(row))), values }
  }
}

/** The column that contains the scope of the row; undefined if the scope is always the contract's account. */
function scopeColumn({ columns, primary }: ContractTable): string | undefined {
  return primary === null ? undefined : Object.keys(columns).find((name) => columns[name] === scope)
}

/** Text for comparison: replaces characters that the database cannot store and bytes that are no UTF-8. */
function printable(text: string): string {
  return text.replaceAll('\0', ' ').replaceAll('\ufffd', '?')
}

function comparedColumn({ table }: ContractTable, name: string, about: About): Column {
  const { type } = table.columns[name]!
  const unknown = about.unknown?.[name]
  const known = unknown === undefined ? {} : { unknown }
  if (about.fixed?.includes(name)) return { name, ...known }
  if (about.freeText?.includes(name))
    return { name, sql: `replace(t.${name}, U&'\\FFFD', '?')`, type, unsure: '?', ...known }
  switch (type) {
    case 'bigint':
    case 'numeric':
      return { name, sql: `t.${name}::text`, type, ...known }
    case 'bigint[]':
      return { name, sql: `t.${name}::text[]`, type, ...known }
    case 'bytea':
      return { name, sql: `encode(t.${name}, 'hex')`, type: 'text', write: "decode($, 'hex')", ...known }
    default:
      return { name, type, ...known }
  }
}

/** Converts a value to the JSON that the database returns for it. */
function formOf(type: string): (value: NonNullable<ColumnValue>) => unknown {
  switch (type) {
    case 'bigint':
    case 'numeric':
      return String
    case 'bigint[]':
      return (value) => (value as readonly bigint[]).map(String)
    case 'bytea':
      return (value) => bytesToHex(value as Uint8Array)
    case 'jsonb':
      return (value) => JSON.parse(value as string) as unknown
    case 'double precision':
      return (value) => (Number.isFinite(value) ? value : String(value))
    default:
      return (value) => value
  }
}

function childrenOf({ table, by, columns }: ChildRows): Children {
  const identifying = table.key.filter((name) => !by.includes(name))
  const isWhole = Object.keys(table.columns).every((name) => by.includes(name) || columns.includes(name))
  return {
    table: table.name,
    by,
    columns: Object.fromEntries(columns.map((name) => [name, table.columns[name]!.type])),
    ...(isWhole ? {} : { unique: identifying[0]! }),
  }
}

/** Child rows sorted by their first column, as `COLLATE "C"` sorts. */
function expectedChildren({ table, columns, rows }: ChildRows, row: ContractRow): RowValues[] {
  const first = columns[0]!
  return [...rows(row)]
    .sort((a, b) => (a[first]! < b[first]! ? -1 : a[first]! > b[first]! ? 1 : 0))
    .map((child) =>
      Object.fromEntries(columns.map((name) => [name, childValue(table.columns[name]!.type, child[name]!)])),
    )
}

function childValue(type: string, value: ColumnValue): unknown {
  return value === null ? null : formOf(type)(value)
}

/** The facts from which scope and primary key of a chain row follow. */
interface Known {
  readonly key: readonly string[]
  readonly values: RowValues
  readonly account: string
}

function placeOf(contract: ContractTable, { key, values, account }: Known): Place {
  if (contract.primary === null) return { scope: account, primary: nameToBigInt(contract.name) }
  const named = scopeColumn(contract)
  const place = named === undefined ? -1 : contract.key.indexOf(named)
  const scopeName = named === undefined ? account : place === -1 ? (values[named] as string) : key[place]!
  return { scope: scopeName, primary: primaryOf(contract, key.at(-1)!) }
}

/** Contracts widen 32-bit ids as unsigned integers. */
function primaryOf({ table, key }: ContractTable, value: string): bigint {
  const { type } = table.columns[key.at(-1)!]!
  if (type === 'text') return nameToBigInt(value)
  return type === 'integer' ? BigInt.asUintN(32, BigInt(value)) : BigInt(value)
}
