import { AbiError } from '../../core/bytes/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import type { Declaration, Declarations } from '../handlers/index.ts'

type Decoder = (bytes: Uint8Array, start: number, end: number) => unknown

/** Decoders of the wanted fields of an action or row. `exact` refuses left-over bytes, `lenient` ignores them. */
interface FieldDecoder {
  readonly lenient: Decoder
  readonly exact: Decoder
}

/** An ABI version and its compiled decoders by name; null if the version lacks the name. */
interface Version {
  readonly abi: CompiledAbi
  readonly decoders: Map<string, FieldDecoder | null>
}

/** Number of older ABI versions to try when a row or log action does not fit the newest version. */
const OLDER_VERSIONS = 4

/** Decodes the actions, or the rows, of one contract with the latest versions of its ABI. */
export class VersionedDecoders {
  readonly #wanted: Declarations
  readonly #typeOf: (abi: CompiledAbi, name: string) => string | undefined
  readonly #versions: Version[] = []

  /** @param typeOf returns the ABI type of an action's data or of a table's rows. */
  constructor(wanted: Declarations, typeOf: (abi: CompiledAbi, name: string) => string | undefined) {
    this.#wanted = wanted
    this.#typeOf = typeOf
  }

  /** Adds an ABI version, which becomes the newest. */
  add(abi: CompiledAbi): void {
    this.#versions.push({ abi, decoders: new Map() })
    if (this.#versions.length > OLDER_VERSIONS + 1) this.#versions.shift()
  }

  wants(name: string): boolean {
    return Object.hasOwn(this.#wanted, name)
  }

  /** Whether the newest ABI version or an older one defines the action or table. */
  has(name: string): boolean {
    return this.#versions.some((version) => this.#find(version, name) !== null)
  }

  /**
   * Decodes with the newest ABI version; undefined if that version lacks the action or table.
   * @throws DecodeError
   */
  decodeByNewest(name: string, bytes: Uint8Array, start: number, end: number): unknown {
    const version = this.#versions.at(-1)
    return version && this.#find(version, name)?.lenient(bytes, start, end)
  }

  /**
   * Decodes with the newest ABI version that consumes all bytes, else with the newest that fits; undefined if no
   * version has the action or table.
   *
   * @throws DecodeError of the newest version if none fits.
   */
  decodeByAny(name: string, bytes: Uint8Array, start: number, end: number): unknown {
    // With a single ABI version, skip the attempt that requires all bytes to be consumed: no other ABI version could be
    // a better fit for the data.
    const fits = this.#versions.length > 1 ? (['exact', 'lenient'] as const) : (['lenient'] as const)
    let failure: unknown
    for (const fit of fits) {
      failure = undefined
      for (let i = this.#versions.length - 1; i >= 0; i--) {
        const decoder = this.#find(this.#versions[i]!, name)
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

  #find({ abi, decoders }: Version, name: string): FieldDecoder | null {
    let decoder = decoders.get(name)
    if (decoder === undefined) {
      const type = this.#typeOf(abi, name)
      decoder = type === undefined ? null : compileDecoder(abi, type, this.#wanted[name]?.fields ?? null)
      decoders.set(name, decoder)
    }
    return decoder
  }
}

/** Compiles the decoders of a type. The chain accepts ABIs with undefined types; their decoders throw on use. */
function compileDecoder(abi: CompiledAbi, type: string, wanted: Declaration['fields']): FieldDecoder {
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
