import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { DataReader } from '../feed/index.ts'
import type { Declaration, Declarations } from '../handlers/index.ts'
import { requireStorable } from './stored-numbers.ts'
import { VersionedDecoders } from './versioned-decoders.ts'

/** The ABI in force: packed, as the chain stores the ABI, and compiled. */
interface CurrentAbi {
  readonly packed: Uint8Array
  readonly abi: CompiledAbi
}

/**
 * Decodes the actions and rows of one contract with the ABI in force. `setAbi` adds each new ABI version in chain
 * order.
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
   * A reader of all fields of actions, with the ABI in force when the getter is called; a later ABI does not change
   * the reader. Fields that the ABI lacks are undefined. Null before the first ABI.
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

  /** Whether an ABI of the contract is known. */
  get hasAbi(): boolean {
    return this.#current !== null
  }

  /**
   * Sets the ABI in force. The chain stores any bytes as an ABI. If the bytes are unreadable, the previous ABI stays in
   * force, as in other chain software.
   *
   * @returns the reason why the ABI is unreadable, or null.
   */
  setAbi(packed: Uint8Array): string | null {
    const current = this.#current
    if (current && Buffer.compare(current.packed, packed) === 0) return null
    if (packed.length === 0) return current ? 'the ABI was removed' : null
    try {
      const definition = parsePackedAbi(packed)
      const abi = compileAbi(definition, 'contract')
      // Decode rows strictly: a row was packed by the contract itself, an action by the account that sends the action.
      const rowAbi = compileAbi(definition)
      this.#current = { packed: Uint8Array.from(packed), abi }
      this.#actions.add(abi)
      this.#rows.add(rowAbi)
      return null
    } catch (error) {
      return describeError(error)
    }
  }

  /** Whether the handler needs the action. */
  wantsAction(name: string): boolean {
    return this.#actions.wants(name)
  }

  /** Whether the handler needs rows of the table. */
  wantsRow(table: string): boolean {
    return this.#rows.wants(table)
  }

  /** Whether the newest ABI of the contract, or an older one, defines the table. */
  namesRow(table: string): boolean {
    return this.#rows.has(table)
  }

  /**
   * Decodes action data; undefined if the ABI lacks the action. The contract's code sends log actions and may disagree
   * with the ABI in force (a wrong or early `setabi`), so older ABIs are tried for log actions.
   *
   * @throws DecodeError, AbiError; RangeError for a number that does not fit its column.
   */
  decodeAction(name: string, bytes: Uint8Array, start: number, end: number): unknown {
    const data = name.startsWith('log')
      ? this.#actions.decodeByAny(name, bytes, start, end)
      : this.#actions.decodeByNewest(name, bytes, start, end)
    requireStorable(data, widthOf(this.#wantedActions, name))
    return data
  }

  /**
   * Decodes a row; undefined if no ABI defines the table. A row that was not rewritten since an upgrade may have the
   * layout of an older ABI. Therefore the newest ABI that consumes all bytes decodes the row. If no ABI consumes all
   * bytes, the newest ABI that fits decodes the row.
   *
   * @throws DecodeError of the newest ABI if none fits; RangeError for a number that does not fit its column.
   */
  decodeRow(table: string, bytes: Uint8Array, start: number, end: number): unknown {
    const row = this.#rows.decodeByAny(table, bytes, start, end)
    requireStorable(row, widthOf(this.#wantedRows, table))
    return row
  }
}

/** Fields of an action or table that may hold 2^63 or more. */
function widthOf(declared: Declarations, name: string): Declaration['fields'] {
  const wide = declared[name]?.wide
  return wide === undefined ? [] : wide
}
