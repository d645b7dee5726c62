import { bytesToHex } from '../../core/bytes/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { AbiVersion } from '../chain/index.ts'
import { formatKey, fromStored } from './keys.ts'
import type { KeyType } from './keys.ts'
import type { StoredRow } from './rows.ts'

/** How rows are written. */
export interface RowForm {
  readonly keyType: KeyType
  readonly withBlockNum: boolean
  /** Null for packed values in hexadecimal. */
  readonly decoder: RowDecoder | null
}

/** A row in an answer; either `json` or `hex` is there. */
export interface RowRecord {
  readonly key: string
  readonly payer: string
  readonly json?: unknown
  readonly hex?: string
  /** Why the row could not be decoded. */
  readonly error?: string
  /** Block that wrote it. */
  readonly block?: number
}

/** Decodes the rows of one table with one ABI. */
export interface RowDecoder {
  /** JSON value of a row. @throws Error that says what does not fit. */
  decode(value: Uint8Array): unknown
}

/**
 * Creates the decoder of a table. Integers of 64 bits and more are numbers as far as clients of chain nodes expect them,
 * that is up to 32 bits, and text above.
 *
 * @returns null when the ABI has no such table.
 */
export function createRowDecoder(abi: CompiledAbi, version: AbiVersion, table: string): RowDecoder | null {
  const type = abi.tableType(table)
  if (type === undefined) return null
  const prefix = `ABI from block ${version.block}, row struct "${type}", err: `
  return {
    decode(value) {
      try {
        return abi.toJson(type, abi.decoder(type)(value), 'node')
      } catch (error) {
        throw new Error(prefix + describeError(error), { cause: error })
      }
    },
  }
}

/** The record of a row. A value that does not fit its ABI is returned in hexadecimal, with the reason. */
export function toRecord(row: StoredRow, form: RowForm): RowRecord {
  return {
    key: formatKey(fromStored(row.key), form.keyType),
    payer: row.payer,
    ...contentOf(row.value, form.decoder),
    ...(form.withBlockNum ? { block: row.since } : {}),
  }
}

function contentOf(value: Buffer, decoder: RowDecoder | null): Pick<RowRecord, 'json' | 'hex' | 'error'> {
  if (!decoder) return { hex: bytesToHex(value) }
  try {
    return { json: decoder.decode(value) }
  } catch (error) {
    return { hex: bytesToHex(value), error: error instanceof Error ? error.message : String(error) }
  }
}
