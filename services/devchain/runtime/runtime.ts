import type { ChainState } from '../chain/index.ts'
import { AbiBook } from './abis.ts'
import type { KnownAbi } from './abis.ts'
import { packAction } from './action.ts'
import type { ActionInput, ActionReceipt, ActionTrace, PackedAction } from './action.ts'
import { ActionContext } from './context.ts'
import type { ContractHost, Fields } from './context.ts'
import { nameText, nameValue } from './names.ts'
import type { TableRows } from '../contracts/rows.ts'

/** A contract's implementation of one action. */
export type ActionHandler = (context: ActionContext) => void

/**
 * Handlers by account and action name. A handler for a notification of another contract's action is named
 * `ACCOUNT::ACTION`.
 */
export type ContractRegistry = ReadonlyMap<string, ReadonlyMap<string, ActionHandler>>

/** Small tables that almost every action reads; their decoded rows are cached. */
const oftenRead: ReadonlySet<string> = new Set([
  'collections',
  'schemas',
  'templates',
  'config',
  'marketplaces',
  'pairs',
])

const noReceipt: ActionReceipt = { global: 0n, recv: 0n, auth: [], code: 0, abi: 0 }

/**
 * Executes actions on the chain's state in the order of a real node: the action, then the accounts that the action
 * notified, then the inline actions of all these receivers. The descendants of an inline action are executed before the
 * next inline action.
 */
export class Runtime implements ContractHost {
  readonly state: ChainState
  readonly abis: AbiBook
  /** Time of the block that is being produced, epoch milliseconds. */
  nowMs = 0
  readonly #contracts: ContractRegistry
  readonly #names = new Map<bigint, string>()
  /** Cache of decoded rows by their packed value, which never changes. */
  readonly #decodedRows = new WeakMap<Buffer, Fields>()
  readonly #decoders = new WeakMap<KnownAbi, Map<string, (bytes: Buffer) => Fields>>()
  readonly #encoders = new WeakMap<KnownAbi, Map<string, (value: Fields) => Buffer>>()

  constructor(state: ChainState, contracts: ContractRegistry) {
    this.state = state
    this.abis = new AbiBook(state)
    this.#contracts = contracts
  }

  /** Time of the block that is being produced in whole epoch seconds, as contracts see it. */
  get nowSeconds(): number {
    return Math.floor(this.nowMs / 1000)
  }

  /**
   * Executes a transaction.
   * @returns the traces by ordinal.
   */
  execute(actions: readonly ActionInput[]): ActionTrace[] {
    const traces: ActionTrace[] = []
    const scheduled = actions.map((action) => this.#schedule(traces, 0, action.account, packAction(action)))
    for (const trace of scheduled) this.#run(traces, trace)
    return traces
  }

  /** Creates an action, with data packed by the ABI in force. */
  action(account: string, name: string, actors: readonly string[], data: Fields): ActionInput {
    const abi = this.abis.of(account)
    return { account, name, actors, data: this.encode(abi, abi.compiled.actionType(name)!, data) }
  }

  /** A decoded row; undefined if it does not exist. */
  row<K extends keyof TableRows>(
    account: string,
    table: K,
    scope: string | bigint,
    key: bigint,
  ): TableRows[K] | undefined {
    const scopeValue = typeof scope === 'bigint' ? scope : nameValue(scope)
    const row = this.state.rows.row(nameValue(account), scopeValue, nameValue(table), key)
    if (row === undefined) return undefined
    const known = this.#decodedRows.get(row.value)
    if (known !== undefined) return known as unknown as TableRows[K]
    const abi = this.abis.of(account)
    const decoded = this.decode(abi, abi.compiled.tableType(table)!, row.value)
    if (oftenRead.has(table)) this.#decodedRows.set(row.value, decoded)
    // `TableRows` declares the row types of the tables of this devchain's contracts. The compiler cannot derive row
    // types from an ABI.
    return decoded as unknown as TableRows[K]
  }

  /** The packed value of a row and its payer; undefined if the row does not exist. */
  rawRow(
    account: string,
    table: string,
    scope: string,
    key: bigint,
  ): { payer: string; value: Buffer } | undefined {
    const row = this.state.rows.row(nameValue(account), nameValue(scope), nameValue(table), key)
    return row && { payer: this.nameOf(row.payer), value: row.value }
  }

  /** Text of a name value, cached. */
  nameOf(value: bigint): string {
    let text = this.#names.get(value)
    if (text === undefined) {
      text = nameText(value)
      this.#names.set(value, text)
    }
    return text
  }

  /** Decodes bytes as a type of an ABI. */
  decode(abi: KnownAbi, type: string, bytes: Buffer): Fields {
    const decoders = cached(this.#decoders, abi)
    let decode = decoders.get(type)
    if (decode === undefined) {
      const compiled = abi.compiled.decoder(type)
      decode = (data) => compiled(data, 0, data.length) as Fields
      decoders.set(type, decode)
    }
    return decode(bytes)
  }

  /** Packs a value as a type of an ABI. */
  encode(abi: KnownAbi, type: string, value: Fields): Buffer {
    const encoders = cached(this.#encoders, abi)
    let encode = encoders.get(type)
    if (encode === undefined) {
      const compiled = abi.compiled.encoder(type)
      encode = (data) => asBuffer(compiled(data))
      encoders.set(type, encode)
    }
    return encode(value)
  }

  #schedule(traces: ActionTrace[], creator: number, receiver: string, action: PackedAction): ActionTrace {
    const ordinal = traces.length + 1
    const trace = { ordinal, creator, receiver, action, receipt: noReceipt, ramDeltas: new Map() }
    traces.push(trace)
    return trace
  }

  #run(traces: ActionTrace[], first: ActionTrace): void {
    const { action } = first
    const receivers = [first]
    const inline: ActionTrace[] = []
    // The list of receivers grows during the loop: a notified contract may notify other accounts.
    for (const trace of receivers) {
      const notify = (account: string): void => {
        const known = receivers.some(({ receiver }) => receiver === account)
        if (!known) receivers.push(this.#schedule(traces, trace.ordinal, account, action))
      }
      const send = (account: string, name: string, data: Fields): void => {
        const sent = packAction(this.action(account, name, [trace.receiver], data))
        inline.push(this.#schedule(traces, trace.ordinal, account, sent))
      }
      const name = trace === first ? action.name : `${action.account}::${action.name}`
      const handler = this.#contracts.get(trace.receiver)?.get(name)
      handler?.(new ActionContext(this, trace, notify, send))
      trace.receipt = this.#receipt(trace)
      this.#takeRam(trace)
    }
    for (const trace of inline) this.#run(traces, trace)
  }

  #receipt(trace: ActionTrace): ActionReceipt {
    const { state } = this
    const { sequences } = state
    state.setGlobalSequence(sequences.global + 1n)
    const receiver = nameValue(trace.receiver)
    const recv = (sequences.recv.get(receiver) ?? 0n) + 1n
    state.set(sequences.recv, receiver, recv)
    const auth = trace.action.actors.map((actor) => {
      const sequence = (sequences.auth.get(nameValue(actor)) ?? 0n) + 1n
      state.set(sequences.auth, nameValue(actor), sequence)
      return { actor, sequence }
    })
    const account = trace.action.accountValue
    const [code, abi] = [sequences.code.get(account) ?? 0, sequences.abi.get(account) ?? 0]
    return { global: sequences.global, recv, auth, code, abi }
  }

  #takeRam(trace: ActionTrace): void {
    for (const [payer, bytes] of trace.ramDeltas) {
      const used = this.state.ramBytes.get(nameValue(payer)) ?? 0n
      if (bytes === 0n) trace.ramDeltas.delete(payer)
      else this.state.set(this.state.ramBytes, nameValue(payer), used + bytes)
    }
  }
}

function cached<K extends object, V>(caches: WeakMap<K, Map<string, V>>, key: K): Map<string, V> {
  let cache = caches.get(key)
  if (cache === undefined) {
    cache = new Map()
    caches.set(key, cache)
  }
  return cache
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
