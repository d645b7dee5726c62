import { bytesToHex } from '../../core/bytes/index.ts'
import { formatKey, fromStored } from './keys.ts'
import type { KeyType } from './keys.ts'
import type { RowContent, RowDecoder } from './row-decoder.ts'
import type { StoredRow } from './rows.ts'

/** Format of rows in a response. */
export interface RowForm {
  readonly keyType: KeyType
  readonly withBlockNum: boolean
  /** Decoder of the values of rows; with null, values are returned packed, in hexadecimal. */
  readonly decoder: RowDecoder | null
  /** Called with the reason if a row fits no ABI of its contract. */
  readonly onMisfit: (error: string) => void
}

/** A row in a response. Contains either `json` or `hex`. */
export interface RowRecord {
  readonly key: string
  readonly payer: string
  readonly json?: unknown
  readonly hex?: string
  /** Why the row could not be decoded. */
  readonly error?: string
  /** Number of the block that wrote the row. */
  readonly block?: number
}

/** Converts rows to records. A value that fits no ABI of its contract is returned in hexadecimal, with the reason. */
export async function toRecords(rows: readonly StoredRow[], form: RowForm): Promise<RowRecord[]> {
  const contents = await form.decoder?.decode(rows.map(({ value }) => value))
  return rows.map((row, i) => ({
    key: formatKey(fromStored(row.key), form.keyType),
    payer: row.payer,
    ...contentOf(row.value, contents?.[i], form),
    ...(form.withBlockNum ? { block: row.since } : {}),
  }))
}

function contentOf(
  value: Buffer,
  content: RowContent | undefined,
  form: RowForm,
): Pick<RowRecord, 'json' | 'hex' | 'error'> {
  if (content === undefined) return { hex: bytesToHex(value) }
  if ('json' in content) return content
  form.onMisfit(content.error)
  return { hex: bytesToHex(value), error: content.error }
}
