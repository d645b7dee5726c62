import { FatalError } from '../../core/errors/index.ts'

/** Error for a source database that cannot be imported. */
export function unfit(why: string): FatalError {
  return new FatalError('IMPORT_SOURCE_UNFIT', `the source cannot be imported: ${why}`)
}
