/**
 * Separators of packed rows. A query can return its rows as one text, because a client library needs more time for the
 * fields of a hundred rows than for one long text. The separators are two control characters that JSON text and names
 * cannot contain.
 */
const ROW_END = '\u001e'
const FIELD_END = '\u001f'

/**
 * SQL expression that packs all rows of a query into one text. NULL fields become empty text. If the query has no rows,
 * the expression is NULL.
 * @param order ORDER BY clause of the rows, without the keyword.
 */
export function packRows(fields: readonly string[], order?: string): string {
  return `string_agg(${packFields(fields)}, E'\\x1e'${order === undefined ? '' : ` ORDER BY ${order}`})`
}

/** SQL expression that packs the fields of one row into one text. */
export function packFields(fields: readonly string[]): string {
  return `concat(${fields.join(`, E'\\x1f', `)})`
}

/** Splits the text of `packRows` into rows. Null means no rows. */
export function unpackRows<Row extends readonly string[] = readonly string[]>(
  text: string | null | undefined,
): Row[] {
  if (text === null || text === undefined) return []
  return text.split(ROW_END).map((packed) => packed.split(FIELD_END) as unknown as Row)
}

/** Reads packed rows that consist of a key and a value. */
export function readPairs(text: string | null | undefined): Map<string, string> {
  return new Map(unpackRows<[string, string]>(text))
}
