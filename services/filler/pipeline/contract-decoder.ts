import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { DataReader } from '../feed/index.ts'
import type { Declaration, Declarations } from '../handlers/index.ts'
import { requireStorable } from './stored-numbers.ts'
import { VersionedDecoders } from './versioned-decoders.ts'

/** The ABI in force, as the contract reads actions. */
interface CurrentAbi {
  readonly packed: Uint8Array
  readonly abi: CompiledAbi
}

/**
 * Decodes the actions and rows of one contract with the ABI in force. Versions are added in order, by `setAbi`, as they
 * come in the stream.
 */
export class ContractDecoder {
  readonly account: string
  readonly #wantedActions: Declarations
  readonly #wantedRows: Declarations
  readonly #actions: VersionedDecoders
  readonly #rows: VersionedDecoders
  #current: CurrentAbi | null = null

  constructor(account: string, wantedActions: Declarations, wantedRows: Declarations) {
    this.account = account
    this.#wantedActions = wantedActions
    this.#wantedRows = wantedRows
    this.#actions = new VersionedDecoders(wantedActions, (abi, name) => abi.actionType(name))
    this.#rows = new VersionedDecoders(wantedRows, (abi, table) => abi.tableType(table))
  }

  /**
   * Reads all fields of actions with the ABI in force, also after a newer one; fields that the ABI lacks are undefined.
   * Null until an ABI was set.
   */
  get wholeActions(): DataReader | null {
    if (!this.#current) return null
    const { abi } = this.#current
    return {
      read: (name, bytes, start, end) => {
        const type = abi.actionType(name)
        return type === undefined ? undefined : abi.decoder(type)(bytes, start, end)
      },
    }
  }

  /** False until an ABI was set. */
  get hasAbi(): boolean {
    return this.#current !== null
  }

  /** Sets the ABI in force. The chain stores any bytes as an ABI: after an unreadable one the previous ABI stays in force, as in every other program of the chain.
   *
   * @returns what is wrong with the ABI, or null.
   */
  setAbi(packed: Uint8Array): string | null {
    const current = this.#current
    if (current && Buffer.compare(current.packed, packed) === 0) return null
    if (packed.length === 0) return current ? 'the ABI was removed' : null
    try {
      const definition = parsePackedAbi(packed)
      const abi = compileAbi(definition, 'contract')
      // The contract has packed the rows itself.
      const rowAbi = compileAbi(definition)
      this.#current = { packed: Uint8Array.from(packed), abi }
      this.#actions.add(abi)
      this.#rows.add(rowAbi)
      return null
    } catch (error) {
      return describeError(error)
    }
  }

  /** True when the handler wants the action. */
  wantsAction(name: string): boolean {
    return this.#actions.wants(name)
  }

  /** True when the handler wants rows of the table. */
  wantsRow(table: string): boolean {
    return this.#rows.wants(table)
  }

  /** True when an ABI of the contract, the newest or an older one, has the table. */
  namesRow(table: string): boolean {
    return this.#rows.has(table)
  }

  /**
   * Decodes action data; undefined when the ABI has no such action. Log actions are sent by the contract's code, which an
   * ABI that is wrong or came too early does not change, so older ABIs are tried for them.
   *
   * @throws DecodeError, AbiError; RangeError for a number that no column holds.
   */
  decodeAction(name: string, bytes: Uint8Array, start: number, end: number): unknown {
    const data = name.startsWith('log')
      ? this.#actions.decodeByAny(name, bytes, start, end)
      : this.#actions.decodeByNewest(name, bytes, start, end)
    requireStorable(data, widthOf(this.#wantedActions, name))
    return data
  }

  /**
   * Decodes a row; undefined when the ABI has no such table. A row that was not rewritten since an upgrade may still
   * have the layout of an older ABI. So the newest ABI that uses all of its bytes reads it, else the newest that fits.
   *
   * @throws DecodeError of the newest ABI when none fits; RangeError for a number that no column holds.
   */
  decodeRow(table: string, bytes: Uint8Array, start: number, end: number): unknown {
    const row = this.#rows.decodeByAny(table, bytes, start, end)
    requireStorable(row, widthOf(this.#wantedRows, table))
    return row
  }
}

/** Fields of an action or table that may be 2^63 or more. */
function widthOf(declared: Declarations, name: string): Declaration['fields'] {
  const wide = declared[name]?.wide
  return wide === undefined ? [] : wide
}
