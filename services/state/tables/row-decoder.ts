import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { describeError } from '../../core/errors/index.ts'

/** An ABI and the block that set it. */
export interface TableAbi {
  readonly abi: CompiledAbi
  readonly block: number
}

/** A decoded row, or the reason why no ABI fits the row. */
export type RowContent = { readonly json: unknown } | { readonly error: string }

/** Dependencies of a row decoder. */
export interface RowDecoderParts {
  readonly table: string
  /** The contract's ABI at the requested block. */
  readonly current: TableAbi
  /** Reads the previous ABIs of the contract, newest first. */
  readonly older: () => Promise<readonly TableAbi[]>
}

/**
 * Decodes the rows of a table. A row that was not rewritten since a contract upgrade may have the layout of an older
 * ABI. The newest ABI that consumes all bytes of the row decodes it; if none does, the newest ABI that fits. As in
 * chain nodes, integers of up to 32 bits are JSON numbers, larger integers are text.
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

  /** Whether the contract's ABI at the requested block contains the table. */
  get isNamed(): boolean {
    return this.#current.abi.tableType(this.#table) !== undefined
  }

  /** Decodes rows. Reads older ABIs only if the current ABI does not fit a row or leaves bytes over. */
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
