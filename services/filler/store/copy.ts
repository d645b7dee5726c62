import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { toDatabaseText } from './layout.ts'
import type { MutableRow } from '../../core/model/index.ts'

const CHUNK_CHARACTERS = 1 << 20
const NEEDS_ESCAPE = /[\\\n\r\t]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Writes COPY text to a table with back-pressure. */
export async function copyLines(
  client: pg.ClientBase,
  target: string,
  columns: readonly string[],
  lines: Iterable<string | Buffer>,
): Promise<void> {
  const list = columns.map((column) => `"${column}"`).join(', ')
  const stream = client.query(copyFrom(`COPY ${target} (${list}) FROM STDIN`))
  const done = finished(stream)
  // The stream may fail while this loop waits for `drain`; the final `await done` reports the error.
  done.catch(() => undefined)
  for (const chunk of joinLines(lines, CHUNK_CHARACTERS))
    if (!stream.write(chunk)) await Promise.race([once(stream, 'drain'), done])
  stream.end()
  await done
}

/**
 * Joins lines into chunks of about `characters`: each chunk becomes a protocol message, which costs more than a line.
 */
export function* joinLines(lines: Iterable<string | Buffer>, characters: number): Generator<string | Buffer> {
  let chunk = ''
  for (const line of lines) {
    if (typeof line === 'string') chunk += line
    const isWhole = typeof line !== 'string'
    if (chunk !== '' && (isWhole || chunk.length >= characters)) {
      yield chunk
      chunk = ''
    }
    if (isWhole) yield line
  }
  if (chunk !== '') yield chunk
}

/** Formats a row as one line of COPY text. */
export function copyLine(columns: readonly string[], row: Readonly<MutableRow>): string {
  let line = ''
  for (let i = 0; i < columns.length; i++) {
    if (i > 0) line += '\t'
    const value = row[columns[i]!]
    if (value === null || value === undefined) line += '\\N'
    else if (typeof value === 'number' || typeof value === 'bigint') line += String(value)
    else line += escapeText(toDatabaseText(value) ?? '')
  }
  return `${line}\n`
}

function escapeText(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replace(/[\\\n\r\t]/g, (character) => escapes[character]!) : text
}
