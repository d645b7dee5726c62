import { inPath, text } from '../../../../core/parameters/index.ts'

/** The account in a path. */
export const ofAccount = { account: inPath(text('Account.')) }
/** The collection in a path. */
export const ofCollection = { collection_name: inPath(text('Collection.')) }
