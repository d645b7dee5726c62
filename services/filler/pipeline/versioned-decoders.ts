import { AbiError } from '../../core/bytes/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import type { Declaration, Declarations } from '../handlers/index.ts'

type Decoder = (bytes: Uint8Array, start: number, end: number) => unknown

/** Decoders of the wanted fields of an action or row. `exact` refuses bytes that are left over. */
interface FieldDecoder {
  readonly lenient: Decoder
  readonly exact: Decoder
}

/** One ABI version with its compiled decoders; null where it lacks the name. */
interface Version {
  readonly abi: CompiledAbi
  readonly decoders: Map<string, FieldDecoder | null>
}

/** Number of older versions that are tried when a row or log action does not fit the one in force. */
const OLDER_VERSIONS = 4

/** Decoders of the actions, or of the rows, of one contract by the last versions of its ABI. */
export class VersionedDecoders {
  readonly #wanted: Declarations
  readonly #typeOf: (abi: CompiledAbi, name: string) => string | undefined
  readonly #versions: Version[] = []

  /** @param typeOf the type of an action's data or of a table's rows. */
  constructor(wanted: Declarations, typeOf: (abi: CompiledAbi, name: string) => string | undefined) {
    this.#wanted = wanted
    this.#typeOf = typeOf
  }

  /** Sets the ABI in force. */
  add(abi: CompiledAbi): void {
    this.#versions.push({ abi, decoders: new Map() })
    if (this.#versions.length > OLDER_VERSIONS + 1) this.#versions.shift()
  }

  wants(name: string): boolean {
    return Object.hasOwn(this.#wanted, name)
  }

  /** True when a version, the newest or an older one, has the name. */
  has(name: string): boolean {
    return this.#versions.some((version) => this.#find(version, name) !== null)
  }

  /** Decodes by the newest version; undefined when it lacks the name. @throws DecodeError */
  decodeByNewest(name: string, bytes: Uint8Array, start: number, end: number): unknown {
    const version = this.#versions.at(-1)
    return version && this.#find(version, name)?.lenient(bytes, start, end)
  }

  /**
   * Decodes by the newest version that uses all of the bytes, else by the newest that fits; undefined when none has the name.
   *
   * @throws DecodeError of the newest version when none fits.
   */
  decodeByAny(name: string, bytes: Uint8Array, start: number, end: number): unknown {
    // With one ABI there is none that fits better.
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

/** The chain accepts ABIs that do not define the types which they name: nothing fits such a type. */
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
