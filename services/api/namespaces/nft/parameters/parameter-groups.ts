import { flag, ids, idsOrNull, name, names, text } from '../../../../core/parameters/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'

/** Parameters `collection_whitelist` and `collection_blacklist`. */
export const collectionLists = {
  collection_whitelist: names('Collection is one of the given values.'),
  collection_blacklist: names('Collection is none of the given values.'),
}

/** Parameters `collection_whitelist`, `collection_blacklist` and `account_blacklist`. */
export const greyLists = {
  ...collectionLists,
  account_blacklist: names('Owner, burner, sender and recipient are none of the given values.'),
}

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
  minter: names('Account that authorized the mint is one of the given values.'),
  initial_receiver: names('Account that received the asset at the mint is one of the given values.'),
  burner: names('Account that burned the asset is one of the given values.'),
}

/** Maximum length of a searched text: the cost of a search grows with its length. */
const searched = { maximum: 100 } as const

export const collectionSearch = {
  match: name('The collection name contains this text.'),
  search: text('The collection name or the displayed name contains words similar to this text.', {
    minimum: 1,
    ...searched,
  }),
}

export const templateNameSearch = {
  match: text('The name of the template contains this text, in any letter case.', searched),
  search: text('The name of the template contains words similar to this text.', searched),
}

/** Name search on assets and their templates. */
export const assetNameSearch = {
  ...templateNameSearch,
  match_immutable_name: text('The name in the immutable data of the asset contains this text.', searched),
  match_mutable_name: text('The name in the mutable data of the asset contains this text.', searched),
}

export const hideOffers = { hide_offers: flag('Leave out assets that are part of a pending offer.', false) }

/** Values of {@link collectionLists} and of the collection names. */
export interface CollectionListValues extends Values<typeof collectionLists> {
  readonly collection_name?: readonly string[] | undefined
}
