import { flag, id, ids, inPath, int, name, names, text, texts } from '../../../core/parameters/index.ts'
import type { Values } from '../../../core/endpoint/index.ts'
import {
  assetFilter,
  assetNameSearch,
  collectionSearch,
  greyLists,
  collectionLists,
  hideOffers,
  templateNameSearch,
  ofAccount,
  ofCollection,
} from '../nft/parameters/index.ts'
import {
  counting,
  createdOrUpdated,
  idBoundaries,
  paging,
  sorting,
  textBoundaries,
} from '../nft/paging/index.ts'

/** Path parameters that name a schema, and a template. */
export const ofSchema = { ...ofCollection, schema_name: inPath(text('Name of the schema.')) }
export const ofTemplate = { template_id: inPath(id('Id of the template.')) }

const amount = { minimum: 0 } as const
/** The contracts limit a memo to 256 bytes. */
const memoParameters = { minimum: 1, maximum: 256 } as const

/** Parameters `collection_name` and `schema_name`. */
const homeFilter = {
  collection_name: names('Collection is one of the given values.'),
  schema_name: names('Schema is one of the given values.'),
}

/** Conditions on the assets that accounts hold. */
const heldAssets = { ...assetFilter, ...assetNameSearch, ...greyLists, ...hideOffers }
const accountMatch = { match_owner: name('The account name contains this text.') }

/** `before` and `after` of lists of accounts: accounts have no time, but clients may send both parameters. */
const ignoredTimes = {
  before: int('Accepted and ignored.', { minimum: 1 }),
  after: int('Accepted and ignored.', { minimum: 1 }),
}

export function ownerParameters(limit: number) {
  return {
    ...paging(limit),
    ...counting,
    ...accountMatch,
    ...heldAssets,
    ...textBoundaries('owner', true),
    ...ignoredTimes,
  }
}

/** Parameters of the list of accounts that burned assets. */
export function burnerParameters(limit: number) {
  return {
    ...paging(limit),
    ...accountMatch,
    ...heldAssets,
    ...textBoundaries('burned_by_account'),
    ...ignoredTimes,
  }
}

/** Values of the parameters of the lists of owners and of burners. */
export type AccountValues = Values<ReturnType<typeof ownerParameters>> &
  Partial<Values<ReturnType<typeof burnerParameters>>>

/** Parameters of the totals of owned or burned assets of one account. */
export const holdingParameters = { ...ofAccount, ...hideOffers, ...collectionLists }

export function collectionParameters(limit: number) {
  return {
    ...paging(limit),
    ...sorting(['created', 'collection_name']),
    ...counting,
    author: names('Author is one of the given values.'),
    authorized_account: name('Collections that list this account as authorized.'),
    notify_account: name('Collections that notify this account.'),
    ...collectionSearch,
    ...textBoundaries('collection_name'),
    ...collectionLists,
  }
}

export type CollectionValues = Values<ReturnType<typeof collectionParameters>>

export function schemaParameters(limit: number) {
  return {
    ...paging(limit),
    ...sorting(['created', 'schema_name', 'assets']),
    ...counting,
    authorized_account: name('Schemas of collections that list this account as authorized.'),
    ...homeFilter,
    match: name('The schema name contains this text.'),
    ...textBoundaries('schema_name', true),
    ...collectionLists,
  }
}

export type SchemaValues = Values<ReturnType<typeof schemaParameters>>

export function templateParameters(limit: number) {
  return {
    ...paging(limit),
    ...sorting(['created', 'name']),
    ...counting,
    ...homeFilter,
    authorized_account: name('Templates of collections that list this account as authorized.'),
    issued_supply: int('Number of minted assets equals this number.', amount),
    min_issued_supply: int('Number of minted assets is at least this number.', amount),
    max_issued_supply: int('Number of minted assets is at most this number.', amount),
    max_supply: int('Supply limit of the template equals this number; 0 = unlimited.', amount),
    has_assets: flag('true: only templates with at least one asset that is not burned.'),
    is_transferable: flag(
      'true: templates whose assets can be transferred; false: templates whose assets cannot.',
    ),
    is_burnable: flag('true: templates whose assets can be burned; false: templates whose assets cannot.'),
    include_deleted: flag('Also templates that were deleted on chain.'),
    ...templateNameSearch,
    ...idBoundaries('template_id'),
    ...collectionLists,
  }
}

export type TemplateValues = Values<ReturnType<typeof templateParameters>>

/** Parameters on sender, recipient and memo, for offers and transfers. */
const partyParameters = {
  account: names('Sender or recipient is one of the given values.'),
  sender: names('Sender is one of the given values.'),
  recipient: names('Recipient is one of the given values.'),
  memo: text('The memo equals this text.', memoParameters),
  match_memo: text('The memo contains this text, in any letter case.', memoParameters),
  hide_contracts: flag(
    'Leave out rows whose sender or recipient has or once had contract code. Accounts that the parameters `account`, `sender` and `recipient` name are exempt.',
  ),
}

export function offerParameters(limit: number) {
  return {
    ...paging(limit),
    ...sorting(['created', 'updated']),
    ...counting,
    ...partyParameters,
    state: texts(
      '0 pending, 1 invalid, 2 unknown, 3 accepted, 4 declined, 5 cancelled; separate several values by commas.',
    ),
    account_whitelist: names('Sender or recipient is one of the given values.'),
    sender_asset_blacklist: ids('No asset that the sender offers is in this list.'),
    sender_asset_whitelist: ids('Every asset that the sender offers is in this list.'),
    recipient_asset_blacklist: ids('No asset that the sender requests from the recipient is in this list.'),
    recipient_asset_whitelist: ids(
      'Every asset that the sender requests from the recipient is in this list.',
    ),
    is_recipient_contract: flag(
      'true: the recipient has or once had contract code; false: the recipient never had code.',
    ),
    hide_empty_offers: flag('Only offers with assets on both sides.'),
    ...assetFilter,
    ...greyLists,
    ...idBoundaries('offer_id'),
    ...createdOrUpdated,
  }
}

export type OfferValues = Values<ReturnType<typeof offerParameters>>

export function transferParameters(limit: number) {
  return {
    ...paging(limit),
    ...sorting(['created']),
    ...counting,
    ...partyParameters,
    ...assetFilter,
    ...collectionLists,
    ...idBoundaries('transfer_id'),
  }
}

export type TransferValues = Values<ReturnType<typeof transferParameters>>

/** Values of the parameters on sender, recipient and memo. */
export type PartyValues = Values<typeof partyParameters> & Pick<OfferValues, 'account_whitelist'>
