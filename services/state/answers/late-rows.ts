import { setImmediate } from 'node:timers/promises'
import { toJsonText } from './json-text.ts'

/** Converts rows of the database to JSON values. */
type WriteRows<Row> = (rows: readonly Row[]) => Promise<readonly unknown[]>

/** Rows of a response that are converted chunk by chunk, so that other requests run in between. */
export class LateRows {
  readonly #chunks: Iterable<readonly unknown[]>
  readonly #write: WriteRows<unknown>

  private constructor(chunks: Iterable<readonly unknown[]>, write: WriteRows<unknown>) {
    this.#chunks = chunks
    this.#write = write
  }

  /**
   * Rows of a response. @param sizeOf returns the size of a row in bytes. @param write converts rows to JSON values.
   */
  static of<Row>(rows: readonly Row[], sizeOf: (row: Row) => number, write: WriteRows<Row>): LateRows {
    return new LateRows(chunksOf(rows, sizeOf), write as WriteRows<unknown>)
  }

  /** Converts the rows, chunk by chunk, and yields them in order. */
  async *written(): AsyncGenerator {
    for (const chunk of this.#chunks) {
      yield* await this.#write(chunk)
      await setImmediate()
    }
  }
}

/** Approximate size of a chunk of rows that are converted together, bytes. */
const CHUNK_BYTES = 65_536
/** Estimated memory of a row without its value, bytes. */
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

/** Body of a response as a list of buffers, and their total size. */
interface WrittenAnswer {
  readonly pieces: readonly Buffer[]
  readonly bytes: number
}

/** Number of characters of a response that are encoded as one buffer. */
const PIECE_LENGTH = 65_536

/**
 * Writes the JSON text of a response.
 * @param tooLarge creates the error for a response that exceeds `maxBytes`; its arguments are the bytes of the response
 * so far and the number of complete rows.
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

/** JSON text of a value in parts. Rows that are not converted yet (`LateRows`) are parts of their own. */
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
