import { AbiBook, nameText } from '../contracts/index.ts'
import { sortedKeys } from '../chain/index.ts'
import type { ChainState, ContractTable } from '../chain/index.ts'
import { NodeJson } from './json.ts'
import { unknownAccount, unknownTable } from './errors.ts'
import { countParam, flagParam, keyParam, nameParam, textParam } from './params.ts'
import type { Params } from './params.ts'

/** Rows that one request gets at most; nodes stop by time, which is about as many. */
const maxRows = 5000

/** Answers table requests from the state of the chain. */
export class TableQueries {
  readonly #state: ChainState
  readonly #abis: AbiBook

  constructor(state: ChainState) {
    this.#state = state
    this.#abis = new AbiBook(state)
  }

  /** The ABI book that the other requests use too. */
  get abis(): AbiBook {
    return this.#abis
  }

  /** `get_table_rows`, primary index only. */
  rows(params: Params): unknown {
    const code = nameParam(params, 'code')
    const tableName = textParam(params, 'table')
    const scope = keyParam(params, 'scope') ?? 0n
    const abi = this.#abis.find(code)
    if (abi === undefined) throw unknownAccount(nameText(code))
    const type = abi.compiled.tableType(tableName)
    if (type === undefined) throw unknownTable(tableName)
    const table = this.#state.rows.table(code, scope, nameParam(params, 'table'))
    const { keys, next } = pageOf(table, params)
    const printer = new NodeJson(abi.definition)
    const [asJson, withPayer] = [flagParam(params, 'json'), flagParam(params, 'show_payer')]
    const decode = abi.compiled.decoder(type)
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

  /** `get_table_by_scope`: tables of a contract with the number of their rows, by scope, then by table. */
  scopes(params: Params): unknown {
    const code = nameParam(params, 'code')
    const wanted = textParam(params, 'table', '') === '' ? undefined : nameParam(params, 'table')
    const lower = keyParam(params, 'lower_bound') ?? 0n
    const upper = keyParam(params, 'upper_bound')
    const limit = countParam(params, 'limit', 10, maxRows)
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

function pageOf(
  table: ContractTable | undefined,
  params: Params,
): { keys: bigint[]; next: bigint | undefined } {
  const limit = countParam(params, 'limit', 10, maxRows)
  const lower = keyParam(params, 'lower_bound') ?? 0n
  const upper = keyParam(params, 'upper_bound')
  if (table === undefined) return { keys: [], next: undefined }
  const all = sortedKeys(table)
  const inside = all.slice(
    firstAtLeast(all, lower),
    upper === undefined ? all.length : firstAtLeast(all, upper + 1n),
  )
  if (flagParam(params, 'reverse')) inside.reverse()
  return { keys: inside.slice(0, limit), next: inside[limit] }
}

/** Position of the first key that is not below `bound`, by bisection. */
function firstAtLeast(keys: readonly bigint[], bound: bigint): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (keys[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
