/** More bytes of attributes, or rows, are not read in one statement. */
export const MAX_BYTES_AT_ONCE = 8 * 1024 * 1024
export const MAX_ROWS_AT_ONCE = 5_000

/**
 * SQL of the bytes of a `jsonb` value that may be large. Its size in the table is about that of its text, and is known
 * without reading it, unless it is compressed.
 */
export function storedBytes(column: string): string {
  return `coalesce(CASE WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
    ELSE octet_length(${column}::text) END, 0)`
}

/** SQL of the bytes of texts. */
export function textsBytes(texts: readonly string[]): string {
  return `octet_length(concat(${texts.join(', ')}))`
}

/** The requested rows are too many, or too large, for one statement: none has been read. */
export class TooMuchAtOnce extends Error {
  constructor() {
    super('too much for one statement')
  }
}

/** Consecutive items whose total size is small enough to read them at once. */
export function partsBySize<T>(items: readonly T[], sizes: readonly number[]): T[][] {
  const parts: T[][] = []
  let bytes = Infinity
  items.forEach((item, index) => {
    const size = sizes[index] ?? 0
    if (bytes + size > MAX_BYTES_AT_ONCE) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)!.push(item)
    bytes += size
  })
  return parts
}
