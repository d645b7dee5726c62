import { AbiError } from '../../core/bytes/index.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { DataReader } from '../feed/index.ts'
import type { Declarations, WantedFields } from '../handlers/index.ts'

type Decoder = (bytes: Uint8Array, start: number, end: number) => unknown

/** One ABI version of a contract with its compiled decoders; null where it lacks the name. */
interface AbiVersion {
  readonly packed: Uint8Array
  /** Reads actions as the contract reads them. */
  readonly abi: CompiledAbi
  /** Reads rows, which the contract has packed. */
  readonly rowAbi: CompiledAbi
  readonly decoders: Readonly<Record<Kind, Map<string, FieldDecoder | null>>>
}

type Kind = 'actions' | 'rows'

/** Decoders of the wanted fields of an action or row. `exact` refuses bytes that are left over. */
interface FieldDecoder {
  readonly lenient: Decoder
  readonly exact: Decoder
}

/** Number of older versions that are tried when a row or log action does not fit the one in force. */
const OLDER_VERSIONS = 4

/**
 * Decodes the actions and rows of one contract with the ABI in force. Versions are added in order, by `setAbi`, as they
 * come in the stream.
 */
export class ContractDecoder {
  readonly account: string
  readonly #wantedActions: Declarations
  readonly #wantedRows: Declarations
  readonly #versions: AbiVersion[] = []

  constructor(account: string, wantedActions: Declarations, wantedRows: Declarations) {
    this.account = account
    this.#wantedActions = wantedActions
    this.#wantedRows = wantedRows
  }

  /**
   * Reads all fields of actions with the ABI in force, also after a newer one; fields that the ABI lacks are undefined.
   * Null until an ABI was set.
   */
  get wholeActions(): DataReader | null {
    const version = this.#versions.at(-1)
    if (!version) return null
    const { abi } = version
    return {
      read: (name, bytes, start, end) => {
        const type = abi.actionType(name)
        return type === undefined ? undefined : abi.decoder(type)(bytes, start, end)
      },
    }
  }

  /** False until an ABI was set. */
  get hasAbi(): boolean {
    return this.#versions.length > 0
  }

  /** Sets the ABI in force. The chain stores any bytes as an ABI: after an unreadable one the previous ABI stays in force, as in every other program of the chain.
   *
   * @returns what is wrong with the ABI, or null.
   */
  setAbi(packed: Uint8Array): string | null {
    const current = this.#versions.at(-1)
    if (current && Buffer.compare(current.packed, packed) === 0) return null
    if (packed.length === 0) return current ? 'the ABI was removed' : null
    try {
      const definition = parsePackedAbi(packed)
      this.#versions.push({
        packed: Uint8Array.from(packed),
        abi: compileAbi(definition, 'contract'),
        rowAbi: compileAbi(definition),
        decoders: { actions: new Map(), rows: new Map() },
      })
      if (this.#versions.length > OLDER_VERSIONS + 1) this.#versions.shift()
      return null
    } catch (error) {
      return describeError(error)
    }
  }

  /** True when the handler wants the action. */
  wantsAction(name: string): boolean {
    return Object.hasOwn(this.#wantedActions, name)
  }

  /** True when the handler wants rows of the table. */
  wantsRow(table: string): boolean {
    return Object.hasOwn(this.#wantedRows, table)
  }

  /** True when an ABI of the contract, the newest or an older one, has the table. */
  namesRow(table: string): boolean {
    return this.#versions.some((version) => this.#decoderOf(version, 'rows', table) !== null)
  }

  /**
   * Decodes action data; undefined when the ABI has no such action. Log actions are sent by the contract's code, which an
   * ABI that is wrong or came too early does not change, so older ABIs are tried for them.
   *
   * @throws DecodeError
   */
  decodeAction(name: string, bytes: Uint8Array, start: number, end: number): unknown {
    if (name.startsWith('log')) return this.#decodeByAny('actions', name, bytes, start, end)
    const version = this.#versions.at(-1)
    return version && this.#decoderOf(version, 'actions', name)?.lenient(bytes, start, end)
  }

  /**
   * Decodes a row; undefined when the ABI has no such table. A row that was not rewritten since an upgrade may still
   * have the layout of an older ABI. So the newest ABI that uses all of its bytes reads it, else the newest that fits.
   *
   * @throws DecodeError of the newest ABI when none fits.
   */
  decodeRow(table: string, bytes: Uint8Array, start: number, end: number): unknown {
    return this.#decodeByAny('rows', table, bytes, start, end)
  }

  #decodeByAny(kind: Kind, name: string, bytes: Uint8Array, start: number, end: number): unknown {
    // With one ABI there is none that fits better.
    const fits = this.#versions.length > 1 ? (['exact', 'lenient'] as const) : (['lenient'] as const)
    let failure: unknown
    for (const fit of fits) {
      failure = undefined
      for (let i = this.#versions.length - 1; i >= 0; i--) {
        const decoder = this.#decoderOf(this.#versions[i]!, kind, name)
        if (!decoder) continue
        try {
          return decoder[fit](bytes, start, end)
        } catch (error) {
          failure ??= error
        }
      }
    }
    if (failure !== undefined) throw failure as Error
    return undefined
  }

  #decoderOf(version: AbiVersion, kind: Kind, name: string): FieldDecoder | null {
    let decoder = version.decoders[kind].get(name)
    if (decoder === undefined) {
      const abi = kind === 'actions' ? version.abi : version.rowAbi
      const type = kind === 'actions' ? abi.actionType(name) : abi.tableType(name)
      const wanted = (kind === 'actions' ? this.#wantedActions : this.#wantedRows)[name]?.fields ?? null
      decoder = type === undefined ? null : compileDecoder(abi, type, wanted)
      version.decoders[kind].set(name, decoder)
    }
    return decoder
  }
}

/** The chain accepts ABIs that do not define the types which they name: nothing fits such a type. */
function compileDecoder(abi: CompiledAbi, type: string, wanted: WantedFields): FieldDecoder {
  try {
    const only = wanted === null ? {} : { only: [...wanted] }
    return { lenient: abi.decoder(type, only), exact: abi.decoder(type, { ...only, exact: true }) }
  } catch (error) {
    if (!(error instanceof AbiError)) throw error
    const refuse = (): never => {
      throw error
    }
    return { lenient: refuse, exact: refuse }
  }
}
