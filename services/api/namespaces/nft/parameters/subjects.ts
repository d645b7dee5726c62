import { inPath, text } from '../../../../core/parameters/index.ts'

/** The account in a path. */
export const ofAccount = { account: inPath(text('Name of the account.')) }
/** The collection in a path. */
export const ofCollection = { collection_name: inPath(text('Name of the collection.')) }
