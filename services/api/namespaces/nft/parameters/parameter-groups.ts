import { flag, ids, idsOrNull, name, names, text } from '../../../../core/parameters/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'

/** `collection_whitelist`, `collection_blacklist`. */
export const collectionLists = {
  collection_whitelist: names('Collection is one of the given values.'),
  collection_blacklist: names('Collection is none of the given values.'),
}

/** `collection_whitelist`, `collection_blacklist`, `account_blacklist`. */
export const greyLists = {
  ...collectionLists,
  account_blacklist: names('Account is none of the given values.'),
}

/** Filters on one asset. */
export const assetFilter = {
  asset_id: ids('Asset is one of the given values.'),
  owner: names('Owner is one of the given values.'),
  burned: flag('true: burned assets; false: assets that are not burned; absent: both.'),
  template_id: idsOrNull('Template is one of the given values; null matches assets without a template.'),
  collection_name: names('Collection is one of the given values.'),
  schema_name: names('Schema is one of the given values.'),
  is_transferable: flag(
    'true: the template is transferable, or the asset has no template; false: the template is not transferable.',
  ),
  is_burnable: flag(
    'true: the template is burnable, or the asset has no template; false: the template is not burnable.',
  ),
  minter: names('Account that authorised the mint.'),
  initial_receiver: names('Account that got the asset at its mint.'),
  burner: names('Account that burned the asset.'),
}

/** Maximum length of a searched text: the cost of a search grows with its length. */
const searched = { maximum: 100 } as const

/** Name search on collections. */
export const collectionSearch = {
  match: name('The collection name contains this text.'),
  search: text('Words similar to this text in the collection name or the displayed name.', {
    minimum: 1,
    ...searched,
  }),
}

/** Name search on templates. */
export const templateNameSearch = {
  match: text('Text in the name of the template, in any letter case.', searched),
  search: text('Words similar to this text in the name of the template.', searched),
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
