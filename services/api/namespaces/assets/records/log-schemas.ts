import { shape } from '../../../endpoint/index.ts'
import type { LoggedActions } from '../../nft/logs/index.ts'

const attributeMap = shape.list(
  shape.object({
    key: shape.text('Name of the attribute'),
    value: {
      type: 'array',
      items: shape.attributeValue,
      description: 'Two items: the type of the value in the ABI, and the value',
    },
  }),
  'Attributes as the action contains them',
)

const fields = shape.list(shape.object({ name: shape.text('Attribute'), type: shape.text('Type') }))
const accounts = shape.list(shape.text('Account'))
const editor = shape.object({ authorized_editor: shape.text('Account that authorised the action') })

export const assetActions: LoggedActions = {
  logmint: shape.object({
    new_asset_owner: shape.text('Account that got the minted asset'),
    authorized_minter: shape.text('Account that authorised the mint'),
  }),
  logburnasset: shape.object({
    asset_owner: shape.text('Account that burned the asset'),
    backed_tokens: shape.list(shape.text('Amount'), 'Tokens that were released'),
  }),
  logbackasset: shape.object({ backed_token: shape.text('Amount that was locked') }),
  logsetdata: shape.object({ old_data: attributeMap, new_data: attributeMap }),
  logrampayer: shape.object({
    asset_owner: shape.text('Owner'),
    old_ram_payer: shape.text('Account that paid for the RAM of the asset until now'),
    new_ram_payer: shape.text('Account that pays for the RAM of the asset from now on'),
  }),
}

const swap = shape.object({
  'new_author?': shape.text('New author'),
  'prior_author?': shape.text('Former author'),
  'actor?': shape.text('Account that authorised the action'),
})

export const collectionActions: LoggedActions = {
  createcol: shape.object({
    author: shape.text('Author'),
    allow_notify: shape.flag('Accounts may be added to notify_accounts'),
    authorized_accounts: accounts,
    notify_accounts: accounts,
    market_fee: shape.number('Share of each sale'),
    data: attributeMap,
  }),
  setcoldata: shape.object({ data: attributeMap }),
  addcolauth: shape.object({ account_to_add: shape.text('Account') }),
  remcolauth: shape.object({ account_to_remove: shape.text('Account') }),
  addnotifyacc: shape.object({ account_to_add: shape.text('Account') }),
  remnotifyacc: shape.object({ account_to_remove: shape.text('Account') }),
  forbidnotify: shape.object({}),
  setmarketfee: shape.object({ market_fee: shape.number('Share of each sale') }),
  createauswap: shape.object({
    new_author: shape.text('New author'),
    owner: shape.flag('Whether the action was authorised with the owner permission'),
    'acceptance_date?': shape.integer('Earliest acceptance, seconds since 1970'),
  }),
  acceptauswap: swap,
  rejectauswap: swap,
}

export const schemaActions: LoggedActions = {
  createschema: shape.object({
    authorized_creator: shape.text('Account that authorised the action'),
    schema_format: fields,
  }),
  extendschema: shape.object({
    authorized_editor: shape.text('Account that authorised the action'),
    schema_format_extension: fields,
  }),
  setschematyp: shape.object({
    authorized_editor: shape.text('Account that authorised the action'),
    schema_format_type: shape.list(
      shape.object({
        name: shape.text('Attribute'),
        mediatype: shape.text('Media type'),
        info: shape.text('Explanation'),
      }),
    ),
  }),
}

export const templateActions: LoggedActions = {
  lognewtempl: shape.object({
    authorized_creator: shape.text('Account that authorised the action'),
    max_supply: shape.integer('Maximum number of assets that can be minted; 0 = unlimited'),
  }),
  locktemplate: editor,
  deltemplate: editor,
  redtemplmax: shape.object({
    authorized_editor: shape.text('Account that authorised the action'),
    new_max_supply: shape.integer('New maximum number of assets that can be minted'),
  }),
  logsetdatatl: shape.object({
    schema_name: shape.text('Schema'),
    old_data: attributeMap,
    new_data: attributeMap,
  }),
}

export const offerActions: LoggedActions = {
  lognewoffer: shape.object({}),
  acceptoffer: shape.object({}),
  declineoffer: shape.object({}),
  canceloffer: shape.object({}),
}
