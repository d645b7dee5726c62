import { flag, ids, idsOrNull, name, names, text } from '../../../../core/parameters/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'

/** `collection_whitelist`, `collection_blacklist`. */
export const collectionLists = {
  collection_whitelist: names('Only these collections.'),
  collection_blacklist: names('Not these collections.'),
}

/** `collection_whitelist`, `collection_blacklist`, `account_blacklist`. */
export const greyLists = { ...collectionLists, account_blacklist: names('Not these accounts.') }

/** Filters on one asset. */
export const assetFilter = {
  asset_id: ids('Asset is one of the given values.'),
  owner: names('Owner is one of the given values.'),
  burned: flag('Burned or not; both when absent.'),
  template_id: idsOrNull('Template is one of the given values; null matches assets without a template.'),
  collection_name: names('Collection is one of the given values.'),
  schema_name: names('Schema is one of the given values.'),
  is_transferable: flag('Template is transferable (or there is none), or is not.'),
  is_burnable: flag('Template is burnable (or there is none), or is not.'),
  minter: names('Account that authorised the mint.'),
  initial_receiver: names('Account that got the asset at its mint.'),
  burner: names('Account that burned it.'),
}

/** Maximum length of a searched text: the cost of a search grows with its length. */
const searched = { maximum: 100 } as const

/** Name search on collections. */
export const collectionSearch = {
  match: name('The collection name contains this text.'),
  search: text('Words like these in the collection name or the shown name.', { minimum: 1, ...searched }),
}

/** Name search on templates. */
export const templateNameSearch = {
  match: text('Text in the name of the template, in any letter case.', searched),
  search: text('Words like these in the name of the template.', searched),
}

/** Name search on assets and their templates. */
export const assetNameSearch = {
  ...templateNameSearch,
  match_immutable_name: text("Text in the name of the asset's immutable data.", searched),
  match_mutable_name: text("Text in the name of the asset's mutable data.", searched),
}

/** `hide_offers`. */
export const hideOffers = { hide_offers: flag('Leave out assets that are part of a pending offer.', false) }

/** Values of {@link collectionLists} and of the collection names. */
export interface CollectionListValues extends Values<typeof collectionLists> {
  readonly collection_name?: readonly string[] | undefined
}
