import { chainTables } from '../../core/model/tables/index.ts'
import type { CommitUnit } from '../store/index.ts'
import { nameToString } from '../../core/antelope/index.ts'

/**
 * Offset of the ABI in a packed `setabi` action: the account name comes first, then the ABI as length-prefixed bytes.
 */
const SETABI_ABI_OFFSET = 8

/** ABIs that accounts set in one block, and accounts that got code. */
export class AccountChanges {
  readonly #reader: string
  readonly #block: number
  readonly #unit: CommitUnit
  /** ABI of each account at the end of the block. */
  readonly #abis = new Map<string, Uint8Array>()

  constructor(reader: string, block: number, unit: CommitUnit) {
    this.#reader = reader
    this.#block = block
    this.#unit = unit
  }

  /** Reads the account and the ABI from the data of a setabi action; null if the data is truncated. */
  setAbiAction(payload: Uint8Array, start: number, end: number): { account: string; abi: Uint8Array } | null {
    if (end - start < SETABI_ABI_OFFSET + 1) return null
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
    const account = nameToString(view.getUint32(start, true), view.getUint32(start + 4, true))
    let length = 0
    let at = start + SETABI_ABI_OFFSET
    for (let shift = 0; shift < 35; shift += 7) {
      if (at >= end) return null
      const byte = payload[at++]!
      length += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    if (at + length > end) return null
    const abi = payload.subarray(at, at + length)
    this.#abis.set(account, abi)
    return { account, abi }
  }

  /**
   * Stores the ABI of an `account` row, which is the ABI at the end of the block. Rows of new accounts have an empty
   * ABI.
   */
  abiDelta(account: string, abi: Uint8Array): void {
    if (abi.length > 0 || this.#abis.has(account)) this.#abis.set(account, abi)
  }

  /** Records that an account has code, from its `account_metadata` row. */
  metadataDelta(account: string, hasCode: boolean): void {
    if (!hasCode) return
    this.#unit.upsert(chainTables.codeAccounts, { account, since_block: this.#block, reader: this.#reader })
  }

  /** Adds the ABIs of the block to the commit unit. */
  end(): void {
    for (const [account, abi] of this.#abis) {
      this.#unit.upsert(chainTables.abis, {
        account,
        block_num: this.#block,
        reader: this.#reader,
        abi: Buffer.from(abi),
      })
    }
  }
}
