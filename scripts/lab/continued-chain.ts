import { Producer } from '../../services/devchain/activity/index.ts'
import { Chain, slotAt } from '../../services/devchain/chain/index.ts'
import type { ChainBlock } from '../../services/devchain/chain/index.ts'
import { createDevchain, setAbiAction } from '../../services/devchain/index.ts'
import type { ActionInput, Devchain } from '../../services/devchain/index.ts'
import { nameValue, Runtime } from '../../services/devchain/runtime/index.ts'
import type { Fields } from '../../services/devchain/runtime/index.ts'
import { shipNodeOf, startShipServer } from '../../services/devchain/ship/index.ts'
import type { ShipServer } from '../../services/devchain/ship/index.ts'

/** The last blocks of a database, which the chain continues. */
export interface ContinuedPosition {
  readonly chainId: string
  /** Number and id of the last block, and of the blocks before it that a reader may still send; ascending. */
  readonly blocks: readonly { readonly num: number; readonly id: Buffer }[]
  /** Time of the last block, epoch ms. */
  readonly timeMs: number
  /** Global sequence after the last action of the last block. */
  readonly sequence: bigint
  /** Number of blocks between the head and the last irreversible block. */
  readonly libLagBlocks: number
}

/** Place of a contract row. Scope and key are names, or raw values. */
interface RowPlace {
  readonly account: string
  readonly table: string
  readonly scope: string
  readonly key: string | bigint
}

/** Size of a block header, which the next block contains, bytes. */
const HEADER_BYTES = 116
const RETAIN_BYTES = 256 * 1024 * 1024

/**
 * A chain whose first block follows the last block of a database. Contracts and their settings are as at the end of the
 * recordings, with the second market version. Rows that the database has must be added with `put` before an action uses
 * them. The node sends no block of the database.
 */
export class ContinuedChain {
  readonly #chainId: string
  readonly #options: { libLagBlocks: number; readonly retainBytes: number }
  readonly #chain: Chain
  readonly #contracts: Devchain
  readonly #producer: Producer
  readonly #runtime: Runtime
  #slot: number
  #ship: ShipServer | null = null

  constructor({ chainId, blocks, timeMs, sequence, libLagBlocks }: ContinuedPosition) {
    this.#chainId = chainId
    this.#slot = slotAt(timeMs)
    this.#options = { libLagBlocks, retainBytes: RETAIN_BYTES }
    this.#chain = new Chain(this.#options)
    this.#contracts = createDevchain({ libLagBlocks: 0 })
    this.#contracts.produceBlock({ rate: 0, deploysSecondMarket: true })
    const { chain: source } = this.#contracts.source
    const { state } = this.#chain
    for (let num = source.first; num <= source.head.num; num++) {
      const { deltas } = source.at(num)!
      if (deltas !== null) state.applyDeltas(deltas)
    }
    state.setGlobalSequence(sequence)
    for (const block of blocks) this.#appendKnown(block)
    this.#producer = new Producer(this.#chain, { seed: 1, rate: 0 })
    this.#runtime = new Runtime(state, new Map())
  }

  /** Starts listening. The chain API serves the ABIs of the contracts, but not the rows that `put` added. */
  async start(): Promise<{ shipUrl: string; httpUrl: string }> {
    const { httpUrl } = await this.#contracts.start()
    const identity = { abiText: this.#contracts.source.abiText, chainId: this.#chainId }
    const node = shipNodeOf(this.#chain, identity, null)
    const ship = await startShipServer(node, { host: '127.0.0.1', port: 0 }, () => undefined)
    this.#ship = ship
    this.#chain.follow({ onBlock: () => ship.pump(), onRewind: (num) => ship.rewind(num) })
    return { shipUrl: ship.url, httpUrl }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#ship?.close(), this.#contracts.stop()])
  }

  /** Adds a row that the chain has had before its first block, unless the chain has a row there. */
  put(place: RowPlace, payer: string, row: Fields): void {
    const key = keyOf(place)
    if (this.#row(key) === undefined) this.#write(place, nameValue(payer), row)
  }

  /** Changes fields of an existing row without a block. */
  patch(place: RowPlace, change: Fields): void {
    const before = this.#row(keyOf(place))!
    const abi = this.#runtime.abis.of(place.account)
    const row = this.#runtime.decode(abi, abi.compiled.tableType(place.table)!, before.value)
    this.#write(place, before.payer, { ...row, ...change })
  }

  /** An action of one actor, packed by the ABI in force. */
  action(account: string, name: string, actor: string, data: Fields): ActionInput {
    return this.#producer.action(account, name, actor, data)
  }

  /** A transaction that sets the ABIs of contracts again: the database may lack them. */
  abisOf(accounts: readonly string[]): ActionInput[] {
    const { state } = this.#chain
    return accounts.map((account) => setAbiAction(account, state.accounts.get(nameValue(account))!.abi))
  }

  /** Number of blocks between the head and the last irreversible block, from the next block on. */
  set libLagBlocks(count: number) {
    this.#options.libLagBlocks = count
  }

  /** Produces the next block, half a second after the block before. */
  produceBlock(transactions: readonly (readonly ActionInput[])[]): ChainBlock {
    return this.#producer.produce(++this.#slot, 0, { transactions })
  }

  #row({ code, scope, table, primaryKey }: ReturnType<typeof keyOf>) {
    return this.#chain.state.rows.row(code, scope, table, primaryKey)
  }

  #write(place: RowPlace, payer: bigint, row: Fields): void {
    const abi = this.#runtime.abis.of(place.account)
    const value = this.#runtime.encode(abi, abi.compiled.tableType(place.table)!, row)
    this.#chain.state.rows.put(keyOf(place), payer, value)
  }

  /** Appends a block of the database: number and id only, and the time slot at the beginning of its header. */
  #appendKnown(position: ContinuedPosition['blocks'][number]): void {
    const { head } = this.#chain
    const block = Buffer.alloc(HEADER_BYTES)
    block.writeUInt32LE(this.#slot, 0)
    const prevId = head.num === 0 ? null : head.id
    const seen = { head: position, lib: position }
    this.#chain.append({ ...position, prevId, block, traces: null, deltas: null, seen })
  }
}

function keyOf({ account, table, scope, key }: RowPlace) {
  return {
    ...{ code: nameValue(account), scope: nameValue(scope), table: nameValue(table) },
    primaryKey: typeof key === 'bigint' ? key : nameValue(key),
  }
}
