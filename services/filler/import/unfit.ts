import { FatalError } from '../../core/errors/index.ts'

/** An error that says why a source cannot be imported. */
export function unfit(why: string): FatalError {
  return new FatalError('IMPORT_SOURCE_UNFIT', `the source cannot be imported: ${why}`)
}
