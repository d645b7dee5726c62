import { AbiBook, nameText, nameValue } from '../runtime/index.ts'
import { sortedKeys } from '../chain/index.ts'
import type { ChainState, ContractTable } from '../chain/index.ts'
import { NodeJson } from './json.ts'
import { invalidRequest, unknownAccount, unknownTable } from './errors.ts'
import { countParam, flagParam, keyParam, nameParam, textParam } from './params.ts'
import type { Params } from './params.ts'

/** Limit of rows per request. A real node limits the time, with a similar effect. */
const MAX_ROWS = 5000

/** Fields of the 64-bit secondary indexes, by table. The first field of a list has index position 2. */
const secondaryIndexes: Readonly<Record<string, readonly string[]>> = {
  offers: ['sender', 'recipient'],
  datapoints: ['value', 'timestamp'],
}
const positions: Readonly<Record<string, number>> = {
  '': 1,
  primary: 1,
  first: 1,
  secondary: 2,
  second: 2,
  tertiary: 3,
  third: 3,
}

/** Answers table requests from the chain's state. */
export class TableQueries {
  readonly #state: ChainState
  readonly #abis: AbiBook

  constructor(state: ChainState) {
    this.#state = state
    this.#abis = new AbiBook(state)
  }

  /** The cache of ABIs in force; `get_abi` uses it, too. */
  get abis(): AbiBook {
    return this.#abis
  }

  /** `get_table_rows` by the primary key or by a 64-bit secondary key. */
  rows(params: Params): unknown {
    const code = nameParam(params, 'code')
    const tableName = textParam(params, 'table')
    const scope = keyParam(params, 'scope') ?? 0n
    const abi = this.#abis.find(code)
    if (abi === undefined) throw unknownAccount(nameText(code))
    const type = abi.compiled.tableType(tableName)
    if (type === undefined) throw unknownTable(tableName)
    const table = this.#state.rows.table(code, scope, nameParam(params, 'table'))
    const field = secondaryField(tableName, textParam(params, 'index_position', ''))
    const printer = new NodeJson(abi.definition)
    const [asJson, withPayer] = [flagParam(params, 'json'), flagParam(params, 'show_payer')]
    const decode = abi.compiled.decoder(type)
    const secondaryKey = (value: Uint8Array): bigint =>
      keyValue((decode(value) as Readonly<Record<string, unknown>>)[field!])
    const { keys, next } = pageOf(
      table === undefined
        ? []
        : field === undefined
          ? primaryEntries(table)
          : secondaryEntries(table, secondaryKey),
      params,
    )
    const print = (key: bigint): unknown => {
      const row = table!.rows.get(key)!
      const data = asJson ? printer.print(type, decode(row.value)) : row.value.toString('hex')
      return withPayer ? { data, payer: nameText(row.payer) } : data
    }
    return {
      rows: keys.map(print),
      more: next !== undefined,
      next_key: next === undefined ? '' : String(next),
    }
  }

  /** `get_table_by_scope`: tables of a contract with their row counts, by scope, then by table. */
  scopes(params: Params): unknown {
    const code = nameParam(params, 'code')
    const wanted = textParam(params, 'table', '') === '' ? undefined : nameParam(params, 'table')
    const lower = keyParam(params, 'lower_bound') ?? 0n
    const upper = keyParam(params, 'upper_bound')
    const limit = countParam(params, 'limit', 10, MAX_ROWS)
    const found = [...this.#state.rows.tables()].filter(
      (table) =>
        table.code === code &&
        table.rows.size > 0 &&
        (wanted === undefined || table.table === wanted) &&
        table.scope >= lower &&
        (upper === undefined || table.scope <= upper),
    )
    found.sort((a, b) => compare(a.scope, b.scope) || compare(a.table, b.table))
    if (flagParam(params, 'reverse')) found.reverse()
    const rows = found.slice(0, limit).map((table) => ({
      code: nameText(code),
      scope: nameText(table.scope),
      table: nameText(table.table),
      payer: nameText(table.rows.get(sortedKeys(table)[0]!)!.payer),
      count: table.rows.size,
    }))
    const next = found[limit]
    return { rows, more: next === undefined ? '' : nameText(next.scope) }
  }
}

/** A row in an index: the key that bounds are compared with, and the primary key. */
interface IndexEntry {
  readonly key: bigint
  readonly primary: bigint
}

function primaryEntries(table: ContractTable): IndexEntry[] {
  return sortedKeys(table).map((key) => ({ key, primary: key }))
}

function secondaryEntries(table: ContractTable, keyOf: (value: Uint8Array) => bigint): IndexEntry[] {
  const entries = [...table.rows].map(([primary, { value }]) => ({ key: keyOf(value), primary }))
  return entries.sort((a, b) => compare(a.key, b.key) || compare(a.primary, b.primary))
}

/** Field by which the index at a position is sorted; undefined for the primary index. */
function secondaryField(table: string, position: string): string | undefined {
  const number = positions[position] ?? Number(position)
  if (number === 1) return undefined
  const field = secondaryIndexes[table]?.[number - 2]
  if (field === undefined)
    throw invalidRequest(`table ${table} has no 64-bit index at index_position ${position.slice(0, 64)}`)
  return field
}

/** A decoded field as a 64-bit index key. */
function keyValue(value: unknown): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return BigInt(value)
  const text = value as string
  // A time_point is read as microseconds since 1970, any other text as a name.
  return text.includes(':') ? BigInt(Date.parse(`${text}Z`)) * 1_000n : nameValue(text)
}

function pageOf(
  entries: readonly IndexEntry[],
  params: Params,
): { keys: bigint[]; next: bigint | undefined } {
  const limit = countParam(params, 'limit', 10, MAX_ROWS)
  const lower = keyParam(params, 'lower_bound') ?? 0n
  const upper = keyParam(params, 'upper_bound')
  const inside = entries.slice(
    firstAtLeast(entries, lower),
    upper === undefined ? entries.length : firstAtLeast(entries, upper + 1n),
  )
  if (flagParam(params, 'reverse')) inside.reverse()
  return { keys: inside.slice(0, limit).map(({ primary }) => primary), next: inside[limit]?.key }
}

/** Position of the first entry whose key is not below `bound`, by bisection. */
function firstAtLeast(entries: readonly IndexEntry[], bound: bigint): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle]!.key < bound) low = middle + 1
    else high = middle
  }
  return low
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
