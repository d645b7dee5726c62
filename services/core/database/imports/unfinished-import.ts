import { FatalError } from '../../errors/index.ts'

/** A reader whose import has not ended. */
export interface UnfinishedImport {
  readonly reader: string
  readonly source: string
}

/** A client, or a session inside a transaction. */
interface ImportReader {
  query(text: string, values: readonly unknown[]): Promise<{ readonly rows: readonly UnfinishedImport[] }>
}

/**
 * Refuses a migrated database whose import is unfinished.
 *
 * @param reader only the import for this reader; null for any reader.
 * @throws FatalError `IMPORT_UNFINISHED`.
 */
export async function refuseUnfinishedImport(client: ImportReader, reader: string | null): Promise<void> {
  const { rows } = await client.query(
    'SELECT reader, source FROM chain.imports WHERE finished_at IS NULL AND ($1::text IS NULL OR reader = $1) ORDER BY 1',
    [reader],
  )
  const [unfinished] = rows
  if (unfinished !== undefined)
    throw new FatalError(
      'IMPORT_UNFINISHED',
      `the import of ${unfinished.source} for reader ${unfinished.reader} is unfinished`,
    )
}
