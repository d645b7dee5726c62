import { createRequire } from 'node:module'
import { bytesToHex } from '../../core/bytes/index.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { packAbi } from '../../core/antelope/abi/index.ts'
import type { AbiDefinition } from '../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { FatalError } from '../../core/errors/index.ts'

/** Functions of the native ABI library that decode rows. */
interface NativeLibrary {
  loadAbiHex(contract: string, hex: string): boolean
  deleteContract(contract: string): boolean
  binToJson(contract: string, type: string, buffer: Buffer): unknown
}

/** Decodes the packed rows of contracts. */
export interface RowDecoder {
  /** Name of the decoder, for reports. */
  readonly name: string
  /** Loads the ABI of a contract, and replaces an ABI loaded earlier. @throws FatalError `ABI_INVALID`. */
  load(contract: string, abi: AbiDefinition): void
  /**
   * Decodes a row. A 64-bit integer is decimal text, or a number if a double represents it exactly.
   * @throws FatalError `DECODE_FAILED` naming contract and table.
   */
  decode(contract: string, table: string, bytes: Uint8Array): Record<string, unknown>
}

/** Name of the native library in reports. */
const NATIVE_DECODER_NAME = '@eosrio/node-abieos'

/**
 * Opens the native library. If it has no binary for the platform, returns Pronghorn's own decoder, whose name states
 * the reason.
 */
export function openRowDecoder(): RowDecoder {
  try {
    const library = createRequire(import.meta.url)(NATIVE_DECODER_NAME) as {
      Abieos: { getInstance(): NativeLibrary }
    }
    return new NativeDecoder(library.Abieos.getInstance())
  } catch (cause) {
    return new OwnDecoder(`${NATIVE_DECODER_NAME} does not load on this machine: ${(cause as Error).message}`)
  }
}

/** Opens Pronghorn's own decoder, even if the native library is available. */
export function openOwnDecoder(): RowDecoder {
  return new OwnDecoder('requested')
}

function tableTypes(abi: AbiDefinition): Map<string, string> {
  return new Map(abi.tables.map(({ name, type }) => [name, type]))
}

function undecodable(contract: string, table: string, cause: unknown): FatalError {
  return new FatalError('DECODE_FAILED', `a row of table ${table} of ${contract} does not fit its ABI`, {
    cause,
  })
}

class NativeDecoder implements RowDecoder {
  readonly name = NATIVE_DECODER_NAME
  readonly #library: NativeLibrary
  readonly #types = new Map<string, Map<string, string>>()
  readonly #own = openOwnDecoder()

  constructor(library: NativeLibrary) {
    this.#library = library
  }

  load(contract: string, abi: AbiDefinition): void {
    if (this.#types.has(contract)) this.#library.deleteContract(contract)
    this.#types.delete(contract)
    this.#own.load(contract, abi)
    // Removes ABI sections after `action_results`: rows do not need them, and the library refuses them.
    const { kv_tables, calls, call_results, unknown_sections, ...known } = abi
    if (this.#library.loadAbiHex(contract, bytesToHex(packAbi(known))))
      this.#types.set(contract, tableTypes(abi))
  }

  decode(contract: string, table: string, bytes: Uint8Array): Record<string, unknown> {
    const types = this.#types.get(contract)
    // Pronghorn's own decoder reads contracts whose ABI the native library refuses. One fault, such as a redefined
    // built-in type, makes the library refuse the whole ABI, although nodes accept it.
    if (types === undefined) return this.#own.decode(contract, table, bytes)
    try {
      const type = types.get(table)
      if (type === undefined) throw new Error(`the ABI of ${contract} has no table ${table}`)
      return this.#library.binToJson(contract, type, Buffer.from(bytes)) as Record<string, unknown>
    } catch (cause) {
      throw undecodable(contract, table, cause)
    }
  }
}

class OwnDecoder implements RowDecoder {
  readonly name: string
  readonly #abis = new Map<string, CompiledAbi>()

  constructor(reason: string) {
    this.name = `own decoder (${reason})`
  }

  load(contract: string, abi: AbiDefinition): void {
    this.#abis.set(contract, compileAbi(abi))
  }

  decode(contract: string, table: string, bytes: Uint8Array): Record<string, unknown> {
    try {
      const abi = this.#abis.get(contract)
      const type = abi?.tableType(table)
      if (abi === undefined || type === undefined)
        throw new Error(`the ABI of ${contract} has no table ${table}`)
      return abi.decodeType(type, bytes) as Record<string, unknown>
    } catch (cause) {
      throw undecodable(contract, table, cause)
    }
  }
}
