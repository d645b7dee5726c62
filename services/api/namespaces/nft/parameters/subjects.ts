import { inPath, text } from '../../../../core/parameters/index.ts'

/** Path parameter that names an account. */
export const ofAccount = { account: inPath(text('Name of the account.')) }
/** Path parameter that names a collection. */
export const ofCollection = { collection_name: inPath(text('Name of the collection.')) }
