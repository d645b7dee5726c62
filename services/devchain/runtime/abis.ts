import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { parsePackedAbi } from '../../core/antelope/abi/index.ts'
import type { AbiDefinition } from '../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { ChainState } from '../chain/index.ts'
import { nameValue } from './names.ts'

/** An ABI in packed and in parsed form. */
export interface KnownAbi {
  readonly definition: AbiDefinition
  readonly compiled: CompiledAbi
}

/** Cache of the accounts' current ABIs; each version is parsed once. */
export class AbiBook {
  readonly #state: ChainState
  readonly #parsed = new WeakMap<Buffer, KnownAbi>()
  readonly #lastGood = new Map<bigint, KnownAbi>()

  constructor(state: ChainState) {
    this.#state = state
  }

  /**
   * The ABI in force; undefined if the account has none. If the current ABI is malformed, the last valid ABI is
   * returned: a real contract needs no ABI to pack its rows. Throws `DecodeError` if there was no valid ABI.
   */
  find(account: bigint): KnownAbi | undefined {
    const packed = this.#state.accounts.get(account)?.abi
    if (packed === undefined) return undefined
    let known = this.#parsed.get(packed)
    if (known === undefined) {
      const before = this.#lastGood.get(account)
      if (packed.length === 0) return before
      try {
        const definition = parsePackedAbi(packed)
        known = { definition, compiled: compileAbi(definition) }
      } catch (error) {
        if (before === undefined) throw error
        known = before
      }
      this.#parsed.set(packed, known)
    }
    this.#lastGood.set(account, known)
    return known
  }

  /** Stores the ABI in force, because it stays in force if the account then sets a malformed ABI. */
  keep(account: bigint): void {
    try {
      this.find(account)
    } catch {
      // A malformed ABI without a valid one before it is not used.
    }
  }

  /**
   * The ABI in force of an account that must have one.
   * @throws FatalError RECORDING_INVALID if it has none
   */
  of(account: string): KnownAbi {
    const known = this.find(nameValue(account))
    if (known === undefined) {
      throw new FatalError('RECORDING_INVALID', `account ${account} has no ABI on this chain`)
    }
    return known
  }
}
