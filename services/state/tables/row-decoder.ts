import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { describeError } from '../../core/errors/index.ts'

/** An ABI with the block that set it. */
export interface TableAbi {
  readonly abi: CompiledAbi
  readonly block: number
}

/** A decoded row, or why none of the ABIs fits it. */
export type RowContent = { readonly json: unknown } | { readonly error: string }

/** Dependencies of a row decoder. */
export interface RowDecoderParts {
  readonly table: string
  /** The ABI in force. */
  readonly current: TableAbi
  /** Reads older ABIs of the contract, the newest first. */
  readonly older: () => Promise<readonly TableAbi[]>
}

/**
 * Decodes the rows of one table. A row that was not rewritten since an upgrade may have the layout of an older ABI: the
 * newest ABI that uses all of its bytes reads it, else the newest that fits. Integers of 64 bits and more are numbers as
 * far as clients of chain nodes expect them, that is up to 32 bits, and text above.
 */
export class RowDecoder {
  readonly #table: string
  readonly #current: TableAbi
  readonly #older: RowDecoderParts['older']
  #foundOlder: ReturnType<RowDecoderParts['older']> | undefined

  constructor({ table, current, older }: RowDecoderParts) {
    this.#table = table
    this.#current = current
    this.#older = older
  }

  /** Whether the ABI in force names the table. */
  get isNamed(): boolean {
    return this.#current.abi.tableType(this.#table) !== undefined
  }

  /** Decodes rows. Older ABIs are read only for rows that leave bytes over or do not fit. */
  async decode(values: readonly Uint8Array[]): Promise<RowContent[]> {
    const contents = values.map((value) => this.#read(this.#current, value, true))
    if (contents.every(isDecoded)) return contents
    const older = await (this.#foundOlder ??= this.#older())
    return contents.map((content, i) => (isDecoded(content) ? content : this.#readByAny(older, values[i]!)))
  }

  #readByAny(older: readonly TableAbi[], value: Uint8Array): RowContent {
    const first = this.#read(this.#current, value, false)
    for (const abi of older) {
      const content = this.#read(abi, value, true)
      if (isDecoded(content)) return content
    }
    if (isDecoded(first)) return first
    return older.map((abi) => this.#read(abi, value, false)).find(isDecoded) ?? first
  }

  #read({ abi, block }: TableAbi, value: Uint8Array, exact: boolean): RowContent {
    const type = abi.tableType(this.#table)
    if (type === undefined) return { error: `ABI from block ${block}, err: it has no table "${this.#table}"` }
    try {
      return { json: abi.toJson(type, abi.decoder(type, { exact })(value), 'node') }
    } catch (error) {
      return { error: `ABI from block ${block}, row struct "${type}", err: ${describeError(error)}` }
    }
  }
}

function isDecoded(content: RowContent): content is { readonly json: unknown } {
  return 'json' in content
}
