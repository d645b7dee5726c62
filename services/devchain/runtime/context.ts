import type { ChainState } from '../chain/index.ts'
import type { AbiBook, KnownAbi } from './abis.ts'
import type { ActionTrace } from './action.ts'
import { nameValue } from './names.ts'
import type { TableRows } from '../contracts/rows.ts'

/** Members of a decoded row or of decoded action data. */
export type Fields = Record<string, unknown>

/** Methods of the runtime that contracts call. */
export interface ContractHost {
  readonly state: ChainState
  readonly abis: AbiBook
  readonly nowSeconds: number
  readonly nowMs: number
  row<K extends keyof TableRows>(
    account: string,
    table: K,
    scope: string | bigint,
    key: bigint,
  ): TableRows[K] | undefined
  rawRow(
    account: string,
    table: string,
    scope: string,
    key: bigint,
  ): { payer: string; value: Buffer } | undefined
  nameOf(value: bigint): string
  decode(abi: KnownAbi, type: string, bytes: Buffer): Fields
  encode(abi: KnownAbi, type: string, value: Fields): Buffer
}

/** Key and payer of a row to be written. */
export interface RowPlace {
  readonly table: string
  /** A name, or a raw 64-bit value. */
  readonly scope: string | bigint
  readonly key: bigint
  /** Account that pays for the row's RAM. */
  readonly payer: string
}

/** RAM that a node bills for a row in addition to its value, bytes. */
const ROW_OVERHEAD_BYTES = 112

/**
 * Environment of a contract while it executes one action: the contract's tables, and methods that notify accounts and
 * send inline actions. A notification or inline action gets its ordinal when the contract requests it, and is executed
 * later.
 */
export class ActionContext {
  readonly host: ContractHost
  /** Account of the executing contract. */
  readonly self: string
  readonly abi: KnownAbi
  readonly #trace: ActionTrace
  readonly #notify: (account: string) => void
  readonly #send: (account: string, action: string, data: Fields) => void

  constructor(
    host: ContractHost,
    trace: ActionTrace,
    notify: (account: string) => void,
    send: (account: string, action: string, data: Fields) => void,
  ) {
    this.host = host
    this.self = trace.receiver
    this.abi = host.abis.of(trace.receiver)
    this.#trace = trace
    this.#notify = notify
    this.#send = send
  }

  /** The accounts that signed the action. */
  get actors(): readonly string[] {
    return this.#trace.action.actors
  }

  /** Packed data of the action. */
  get packedData(): Buffer {
    return this.#trace.action.data
  }

  /** Decoded data of the action, by the ABI of the action's account. */
  data(): unknown {
    const { account, name, data } = this.#trace.action
    const abi = account === this.self ? this.abi : this.host.abis.of(account)
    return this.host.decode(abi, abi.compiled.actionType(name)!, data)
  }

  /** Notifies `account` of this action; repeated calls have no effect. */
  notify(account: string): void {
    this.#notify(account)
  }

  /** Sends an inline action to the contract itself, with the contract's own authority. */
  log(action: string, data: Fields): void {
    this.#send(this.self, action, data)
  }

  /** Sends an inline action to another contract, with the authority of this contract. */
  send(account: string, action: string, data: Fields): void {
    this.#send(account, action, data)
  }

  /** A decoded row; undefined if it does not exist. `scope` is a name, or a raw 64-bit value. */
  get<K extends keyof TableRows>(table: K, scope: string | bigint, key: bigint): TableRows[K] | undefined {
    return this.host.row(this.self, table, scope, key)
  }

  /** The packed value of a row and its payer; undefined if the row does not exist. */
  raw(table: string, scope: string, key: bigint): { payer: string; value: Buffer } | undefined {
    return this.host.rawRow(this.self, table, scope, key)
  }

  /** Creates or replaces a row. */
  put(place: RowPlace, row: Fields): void {
    const type = this.abi.compiled.tableType(place.table)!
    this.putRaw(place, this.host.encode(this.abi, type, row))
  }

  /** Creates or replaces a row with packed bytes. */
  putRaw({ table, scope, key, payer }: RowPlace, value: Buffer): void {
    const { rows } = this.host.state
    const place = { code: nameValue(this.self), scope: scopeOf(scope), table: nameValue(table) }
    const before = rows.row(place.code, place.scope, place.table, key)
    if (before !== undefined) this.#bill(before.payer, -rowBytes(before.value))
    this.#bill(nameValue(payer), rowBytes(value))
    rows.put({ ...place, primaryKey: key }, nameValue(payer), value)
  }

  /** Removes an existing row. */
  erase(table: string, scope: string, key: bigint): void {
    const { rows } = this.host.state
    const row = rows.erase(nameValue(this.self), nameValue(scope), nameValue(table), key)
    if (row !== undefined) this.#bill(row.payer, -rowBytes(row.value))
  }

  /** Bills RAM outside of table rows. */
  billRam(payer: string, bytes: bigint): void {
    this.#bill(nameValue(payer), Number(bytes))
  }

  #bill(payer: bigint, bytes: number): void {
    const name = this.host.nameOf(payer)
    this.#trace.ramDeltas.set(name, (this.#trace.ramDeltas.get(name) ?? 0n) + BigInt(bytes))
  }
}

function scopeOf(scope: string | bigint): bigint {
  return typeof scope === 'bigint' ? scope : nameValue(scope)
}

function rowBytes(value: Buffer): number {
  return value.length + ROW_OVERHEAD_BYTES
}
