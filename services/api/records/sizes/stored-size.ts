/** Maximum size of attributes that one statement reads, bytes. */
export const MAX_BYTES_AT_ONCE = 8 * 1024 * 1024
/** Maximum number of rows that one statement reads. */
export const MAX_ROWS_AT_ONCE = 5_000

/**
 * SQL of the size of a `jsonb` value that may be large, bytes. The stored size is about the size of the text. It is
 * known without reading the value, unless the value is compressed; then the text is measured.
 */
export function storedBytes(column: string): string {
  return `coalesce(CASE WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
    ELSE octet_length(${column}::text) END, 0)`
}

/** SQL of the total size of texts, bytes. */
export function textsBytes(texts: readonly string[]): string {
  return `octet_length(concat(${texts.join(', ')}))`
}

/** Error: the requested rows are too many or too large for one statement. The statement has read none of them. */
export class TooMuchAtOnce extends Error {
  constructor() {
    super('too much for one statement')
  }
}

/** Splits items into groups of consecutive items whose total size is small enough to be read at once. */
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
