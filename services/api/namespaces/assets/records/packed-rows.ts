import type { Session, Statement } from '../../../database/index.ts'

/**
 * Rows as one text. A client library spends more time on the fields of a hundred rows than on one long text, which is
 * cut here at two control characters that JSON text and names cannot contain.
 */
const ROW_END = '\u001e'
const FIELD_END = '\u001f'

/** Select list that packs every row of a query into one text. Null fields become empty. */
export function packRows(fields: readonly string[]): string {
  return `string_agg(concat(${fields.join(`, E'\\x1f', `)}), E'\\x1e')`
}

/** Runs a statement whose select list was made by `packRows`; each row is an array of its texts. */
export async function queryPacked<Row extends readonly string[]>(
  session: Session,
  statement: Statement,
): Promise<Row[]> {
  const [row] = await session.query<[string | null]>(statement)
  return unpackRows(row?.[0] ?? null)
}

/** The rows of a text that `packRows` made; null is that of no rows. */
export function unpackRows<Row extends readonly string[]>(text: string | null): Row[] {
  if (text === null) return []
  return text.split(ROW_END).map((packed) => packed.split(FIELD_END) as unknown as Row)
}
