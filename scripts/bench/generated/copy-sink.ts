import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { connectDatabase } from '../../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'

/** Value of a column. Text must not contain backslashes, tabs or line ends. */
export type Field = string | number | boolean | bigint | null

const CHUNK = 256 * 1024

/** Writes rows to a table, or discards the rows if the generated database does not include the table. */
export interface RowSink {
  /** Number of rows added so far. */
  readonly rows: number
  /** Buffers a row. If it returns true, the caller must await `flush` before the next row. */
  add(fields: readonly Field[]): boolean
  flush(): Promise<void>
  close(): Promise<void>
}

/** Discards all rows: for the tables of a part that the generated database does not include. */
export const leftOut: RowSink = {
  rows: 0,
  add: () => false,
  flush: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

/** Loads rows into a table with COPY, on its own connection. */
export class CopySink implements RowSink {
  rows = 0
  readonly #client: pg.Client
  readonly #stream: ReturnType<typeof copyFrom>
  #text = ''

  private constructor(client: pg.Client, table: string, columns: readonly string[]) {
    this.#client = client
    this.#stream = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`))
  }

  static async open(address: DatabaseAddress, table: string, columns: readonly string[]): Promise<CopySink> {
    const client = await connectDatabase(address, { applicationName: 'generate' })
    return new CopySink(client, table, columns)
  }

  add(fields: readonly Field[]): boolean {
    this.#text += `${fields.map((field) => field ?? '\\N').join('\t')}\n`
    this.rows++
    return this.#text.length > CHUNK
  }

  async flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    if (text !== '' && !this.#stream.write(text)) await once(this.#stream, 'drain')
  }

  /**
   * Ends the COPY.
   * @throws the server's error.
   */
  async close(): Promise<void> {
    await this.flush()
    this.#stream.end()
    await finished(this.#stream)
    await this.#client.end()
  }
}

/** Formats an array of 64-bit integers for COPY. */
export function arrayField(values: readonly (number | bigint)[]): string {
  return `{${values.join(',')}}`
}

/** Formats bytes, given in hexadecimal, for COPY. */
export function bytesField(hex: string): string {
  return `\\\\x${hex}`
}
