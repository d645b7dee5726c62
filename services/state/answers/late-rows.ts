import { setImmediate } from 'node:timers/promises'
import { toJsonText } from './json-text.ts'

/** Returns what is written of some rows. */
type WriteRows<Row> = (rows: readonly Row[]) => Promise<readonly unknown[]>

/** Rows of an answer that are written a few at a time, so that other requests need not wait for all of them. */
export class LateRows {
  readonly #chunks: Iterable<readonly unknown[]>
  readonly #write: WriteRows<unknown>

  private constructor(chunks: Iterable<readonly unknown[]>, write: WriteRows<unknown>) {
    this.#chunks = chunks
    this.#write = write
  }

  /** @param sizeOf returns the bytes of a row. */
  static of<Row>(rows: readonly Row[], sizeOf: (row: Row) => number, write: WriteRows<Row>): LateRows {
    return new LateRows(chunksOf(rows, sizeOf), write as WriteRows<unknown>)
  }

  /** Texts of the rows, in their order. */
  async *written(): AsyncGenerator {
    for (const chunk of this.#chunks) {
      yield* await this.#write(chunk)
      await setImmediate()
    }
  }
}

/** Bytes of rows that are written at once. */
const CHUNK_BYTES = 65_536
/** Bytes of a row in memory in addition to its value. */
const ROW_BYTES = 64

function* chunksOf<Row>(rows: readonly Row[], sizeOf: (row: Row) => number): Generator<Row[]> {
  let [chunk, bytes]: [Row[], number] = [[], 0]
  for (const row of rows) {
    chunk.push(row)
    bytes += sizeOf(row) + ROW_BYTES
    if (bytes < CHUNK_BYTES) continue
    yield chunk
    ;[chunk, bytes] = [[], 0]
  }
  if (chunk.length > 0) yield chunk
}

/** Text of an answer in pieces. */
interface WrittenAnswer {
  readonly pieces: readonly Buffer[]
  readonly bytes: number
}

/** Characters of a piece. */
const PIECE_LENGTH = 65_536

/**
 * Writes the JSON text of an answer.
 * @param tooLarge returns the error for an answer that has too many bytes behind so many rows.
 */
export async function writeAnswer(
  value: unknown,
  maxBytes: number,
  tooLarge: (bytes: number, rows: number) => Error,
): Promise<WrittenAnswer> {
  const pieces: Buffer[] = []
  let [text, bytes] = ['', 0]
  const flush = (rows: number): void => {
    const piece = Buffer.from(text)
    text = ''
    bytes += piece.length
    if (bytes > maxBytes) throw tooLarge(bytes, rows)
    pieces.push(piece)
  }
  const writeRows = async (rows: LateRows): Promise<void> => {
    let count = 0
    text += '['
    for await (const row of rows.written()) {
      text += (count === 0 ? '' : ',') + toJsonText(row)
      if (text.length >= PIECE_LENGTH) flush(count)
      count++
    }
    text += ']'
  }
  for (const part of partsOf(value)) {
    if (part instanceof LateRows) await writeRows(part)
    else text += part
  }
  flush(0)
  return { pieces, bytes }
}

/** Text of a value, interrupted by its rows. */
function* partsOf(value: unknown): Generator<string | LateRows> {
  if (value instanceof LateRows) yield value
  else if (!hasRows(value)) yield toJsonText(value)
  else if (Array.isArray(value)) {
    yield '['
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ','
      yield* partsOf(item)
    }
    yield ']'
  } else {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    for (const [index, [key, member]] of members.entries()) {
      yield `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`
      yield* partsOf(member)
    }
    yield '}'
  }
}

function hasRows(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  return value instanceof LateRows || Object.values(value).some(hasRows)
}
