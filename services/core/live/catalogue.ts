/** Contract families whose actions are published as events. */
export type EventFamily = 'assets' | 'market' | 'tools'

/** Entity that an event is about: a record of the REST namespace of the same family. */
export type EventEntity =
  | 'asset'
  | 'transfer'
  | 'offer'
  | 'collection'
  | 'schema'
  | 'template'
  | 'sale'
  | 'auction'
  | 'buyoffer'
  | 'template_buyoffer'
  | 'link'

/** Action fields that contain the filter keys of subscriptions: one value or a list each. */
export interface KeyFields {
  readonly collections?: readonly string[]
  readonly accounts?: readonly string[]
  readonly assets?: readonly string[]
  readonly templates?: readonly string[]
}

/** How socket.io clients receive the event. */
export interface SocketEvent {
  /** Socket.io namespaces, relative to the path of the REST namespace, such as `/v1/sales`. */
  readonly namespaces: readonly string[]
  readonly event: string
  /** Room that a client must subscribe to; absent if every client receives the event. */
  readonly room?: string
  /** Whether the event is sent only with `socket_features.asset_update`. */
  readonly assetUpdate?: true
}

/** The event that a contract action causes. */
export interface EventEntry {
  readonly family: EventFamily
  /** Event name in the websocket and the event stream, unique over all families. */
  readonly event: string
  /** Contract action for which the event is published. */
  readonly action: string
  readonly entity: EventEntity
  /**
   * Action fields that form the entity's id, joined by `/`; empty for transfers, whose id is the action's global
   * sequence.
   */
  readonly id: readonly string[]
  readonly keys: KeyFields
  readonly socket?: SocketEvent
  /** Description of the event, in one sentence. */
  readonly meaning: string
}

const asset = { entity: 'asset', id: ['asset_id'] } as const
const offer = { entity: 'offer', id: ['offer_id'] } as const
const collection = { entity: 'collection', id: ['collection_name'] } as const
const schema = { entity: 'schema', id: ['collection_name', 'schema_name'] } as const
const template = { entity: 'template', id: ['collection_name', 'template_id'] } as const
const sale = { entity: 'sale', id: ['sale_id'] } as const
const auction = { entity: 'auction', id: ['auction_id'] } as const
const buyoffer = { entity: 'buyoffer', id: ['buyoffer_id'] } as const
const templateBuyoffer = { entity: 'template_buyoffer', id: ['buyoffer_id'] } as const
const link = { entity: 'link', id: ['link_id'] } as const

const ofCollection = { collections: ['collection_name'] } as const
const ofTemplate = { ...ofCollection, templates: ['template_id'] } as const

const assetsEvents: readonly Omit<EventEntry, 'family'>[] = [
  {
    event: 'asset_minted',
    action: 'logmint',
    ...asset,
    keys: { ...ofTemplate, accounts: ['authorized_minter', 'new_asset_owner'], assets: ['asset_id'] },
    socket: { namespaces: ['/v1/assets'], event: 'new_asset' },
    meaning: 'An asset was minted.',
  },
  {
    event: 'asset_burned',
    action: 'logburnasset',
    ...asset,
    keys: { ...ofTemplate, accounts: ['asset_owner'], assets: ['asset_id'] },
    socket: { namespaces: ['/v1/assets'], event: 'burn' },
    meaning: 'An asset was destroyed.',
  },
  {
    event: 'asset_backed',
    action: 'logbackasset',
    ...asset,
    keys: { accounts: ['asset_owner'], assets: ['asset_id'] },
    socket: { namespaces: ['/v1/assets'], event: 'back', assetUpdate: true },
    meaning: 'An asset was backed with tokens.',
  },
  {
    event: 'asset_updated',
    action: 'logsetdata',
    ...asset,
    keys: { accounts: ['asset_owner'], assets: ['asset_id'] },
    socket: { namespaces: ['/v1/assets'], event: 'update', assetUpdate: true },
    meaning: 'The mutable data of an asset changed.',
  },
  {
    event: 'asset_payer_changed',
    action: 'logrampayer',
    ...asset,
    keys: { accounts: ['asset_owner', 'old_ram_payer', 'new_ram_payer'], assets: ['asset_id'] },
    meaning: "Another account pays for an asset's memory.",
  },
  {
    event: 'assets_transferred',
    action: 'logtransfer',
    entity: 'transfer',
    id: [],
    keys: { ...ofCollection, accounts: ['from', 'to'], assets: ['asset_ids'] },
    socket: { namespaces: ['/v1/offers', '/v1/transfers'], event: 'new_transfer' },
    meaning: 'Assets of a collection were transferred from one account to another.',
  },
  {
    event: 'offer_created',
    action: 'lognewoffer',
    ...offer,
    keys: { accounts: ['sender', 'recipient'], assets: ['sender_asset_ids', 'recipient_asset_ids'] },
    socket: { namespaces: ['/v1/offers'], event: 'create' },
    meaning: 'An account offered a trade of assets to another.',
  },
  { event: 'offer_accepted', action: 'acceptoffer', ...offer, keys: {}, meaning: 'An offer was accepted.' },
  {
    event: 'offer_declined',
    action: 'declineoffer',
    ...offer,
    keys: {},
    meaning: 'The recipient declined an offer.',
  },
  {
    event: 'offer_cancelled',
    action: 'canceloffer',
    ...offer,
    keys: {},
    meaning: 'An offer was cancelled.',
  },
  {
    event: 'collection_created',
    action: 'createcol',
    ...collection,
    keys: { ...ofCollection, accounts: ['author', 'authorized_accounts', 'notify_accounts'] },
    meaning: 'A collection was created.',
  },
  ...[
    { action: 'setcoldata', what: 'The data of a collection changed.' },
    { action: 'addcolauth', who: 'account_to_add', what: 'An account may now act for a collection.' },
    {
      action: 'remcolauth',
      who: 'account_to_remove',
      what: 'An account may no longer act for a collection.',
    },
    {
      action: 'addnotifyacc',
      who: 'account_to_add',
      what: 'An account was added to the accounts that are notified of a collection.',
    },
    {
      action: 'remnotifyacc',
      who: 'account_to_remove',
      what: 'An account was removed from the accounts that are notified of a collection.',
    },
    { action: 'forbidnotify', what: 'Accounts can no longer be notified of a collection.' },
    { action: 'setmarketfee', what: 'The market fee of a collection changed.' },
    {
      action: 'createauswap',
      who: 'new_author',
      what: 'A change of the author of a collection was proposed.',
    },
    { action: 'acceptauswap', what: 'The new author accepted a collection.' },
    { action: 'rejectauswap', what: 'The change of the author of a collection was rejected or cancelled.' },
  ].map(({ action, who, what }) => ({
    event: 'collection_updated',
    action,
    ...collection,
    keys: who === undefined ? ofCollection : { ...ofCollection, accounts: [who] },
    meaning: what,
  })),
  {
    event: 'schema_created',
    action: 'createschema',
    ...schema,
    keys: { ...ofCollection, accounts: ['authorized_creator'] },
    meaning: 'A schema was created.',
  },
  {
    event: 'schema_updated',
    action: 'extendschema',
    ...schema,
    keys: { ...ofCollection, accounts: ['authorized_editor'] },
    meaning: 'Attributes were added to a schema.',
  },
  {
    event: 'schema_updated',
    action: 'setschematyp',
    ...schema,
    keys: { ...ofCollection, accounts: ['authorized_editor'] },
    meaning: 'The media types of a schema changed.',
  },
  {
    event: 'template_created',
    action: 'lognewtempl',
    ...template,
    keys: { ...ofTemplate, accounts: ['authorized_creator'] },
    meaning: 'A template was created.',
  },
  {
    event: 'template_updated',
    action: 'logsetdatatl',
    ...template,
    keys: ofTemplate,
    meaning: 'The mutable data of a template changed.',
  },
  {
    event: 'template_updated',
    action: 'locktemplate',
    ...template,
    keys: { ...ofTemplate, accounts: ['authorized_editor'] },
    meaning: 'No more assets of a template can be minted.',
  },
  {
    event: 'template_updated',
    action: 'redtemplmax',
    ...template,
    keys: { ...ofTemplate, accounts: ['authorized_editor'] },
    meaning: 'The maximum supply of a template was reduced.',
  },
  {
    event: 'template_deleted',
    action: 'deltemplate',
    ...template,
    keys: { ...ofTemplate, accounts: ['authorized_editor'] },
    meaning: 'A template was deleted.',
  },
]

const marketEvents: readonly Omit<EventEntry, 'family'>[] = [
  {
    event: 'sale_created',
    action: 'lognewsale',
    ...sale,
    keys: { ...ofCollection, accounts: ['seller'], assets: ['asset_ids'] },
    socket: { namespaces: ['/v1/sales'], event: 'new_sale', room: 'new_sales' },
    meaning: 'A sale was announced.',
  },
  {
    event: 'sale_started',
    action: 'logsalestart',
    ...sale,
    keys: {},
    meaning: 'The seller created the offer of a sale; the assets can be bought now.',
  },
  { event: 'sale_cancelled', action: 'cancelsale', ...sale, keys: {}, meaning: 'A sale was cancelled.' },
  {
    event: 'sale_purchased',
    action: 'purchasesale',
    ...sale,
    keys: { accounts: ['buyer'] },
    socket: { namespaces: ['/v1/sales'], event: 'purchased_sale', room: 'purchased_sales' },
    meaning: 'The assets of a sale were bought.',
  },
  {
    event: 'auction_created',
    action: 'lognewauct',
    ...auction,
    keys: { ...ofCollection, accounts: ['seller'], assets: ['asset_ids'] },
    socket: { namespaces: ['/v1/auctions'], event: 'new_auction', room: 'new_auctions' },
    meaning: 'An auction was announced.',
  },
  {
    event: 'auction_started',
    action: 'logauctstart',
    ...auction,
    keys: {},
    meaning: 'The seller transferred the assets of an auction to the market; accounts can bid now.',
  },
  {
    event: 'auction_cancelled',
    action: 'cancelauct',
    ...auction,
    keys: {},
    meaning: 'An auction was cancelled.',
  },
  {
    event: 'auction_bid',
    action: 'auctionbid',
    ...auction,
    keys: { accounts: ['bidder'] },
    socket: { namespaces: ['/v1/auctions'], event: 'new_bid', room: 'new_bids' },
    meaning: 'An account bid in an auction.',
  },
  {
    event: 'auction_claimed_by_buyer',
    action: 'auctclaimbuy',
    ...auction,
    keys: {},
    meaning: 'The buyer claimed the assets of an auction.',
  },
  {
    event: 'auction_claimed_by_seller',
    action: 'auctclaimsel',
    ...auction,
    keys: {},
    meaning: 'The seller claimed the price of an auction.',
  },
  {
    event: 'buyoffer_created',
    action: 'lognewbuyo',
    ...buyoffer,
    keys: { ...ofCollection, accounts: ['buyer', 'recipient'], assets: ['asset_ids'] },
    socket: { namespaces: ['/v1/buyoffers'], event: 'new_buyoffer', room: 'new_buyoffers' },
    meaning: 'An account offered to buy assets of another account.',
  },
  {
    event: 'buyoffer_cancelled',
    action: 'cancelbuyo',
    ...buyoffer,
    keys: {},
    meaning: 'A buy offer was cancelled.',
  },
  {
    event: 'buyoffer_declined',
    action: 'declinebuyo',
    ...buyoffer,
    keys: {},
    meaning: 'The recipient declined a buy offer.',
  },
  {
    event: 'buyoffer_accepted',
    action: 'acceptbuyo',
    ...buyoffer,
    keys: { assets: ['expected_asset_ids'] },
    meaning: 'The recipient sold the assets of a buy offer.',
  },
  {
    event: 'template_buyoffer_created',
    action: 'lognewtbuyo',
    ...templateBuyoffer,
    keys: { ...ofTemplate, accounts: ['buyer'] },
    socket: {
      namespaces: ['/v1/template_buyoffers'],
      event: 'new_template_buyoffer',
      room: 'new_template_buyoffers',
    },
    meaning: 'An account offered to buy any asset of a template.',
  },
  {
    event: 'template_buyoffer_cancelled',
    action: 'canceltbuyo',
    ...templateBuyoffer,
    keys: {},
    meaning: 'A buy offer for a template was cancelled.',
  },
  {
    event: 'template_buyoffer_fulfilled',
    action: 'fulfilltbuyo',
    ...templateBuyoffer,
    keys: { accounts: ['seller'], assets: ['asset_id'] },
    meaning: 'An account sold an asset to a buy offer for its template.',
  },
]

const toolsEvents: readonly Omit<EventEntry, 'family'>[] = [
  {
    event: 'link_created',
    action: 'lognewlink',
    ...link,
    keys: { accounts: ['creator'], assets: ['asset_ids'] },
    meaning: 'A link was announced.',
  },
  {
    event: 'link_started',
    action: 'loglinkstart',
    ...link,
    keys: {},
    meaning:
      'The creator transferred the assets of a link to the tools contract; the link can be claimed now.',
  },
  { event: 'link_cancelled', action: 'cancellink', ...link, keys: {}, meaning: 'A link was cancelled.' },
  {
    event: 'link_claimed',
    action: 'claimlink',
    ...link,
    keys: { accounts: ['claimer'] },
    meaning: 'An account claimed the assets of a link.',
  },
]

/**
 * Every published event: one entry per action that changes the content of a record. Several actions may cause the same
 * event. The filler's events, the API's messages and the documentation are derived from this table.
 */
export const eventCatalogue: readonly EventEntry[] = [
  ...assetsEvents.map((entry) => ({ family: 'assets' as const, ...entry })),
  ...marketEvents.map((entry) => ({ family: 'market' as const, ...entry })),
  ...toolsEvents.map((entry) => ({ family: 'tools' as const, ...entry })),
]

const byAction = new Map(eventCatalogue.map((entry) => [`${entry.family} ${entry.action}`, entry]))

/** The event of an action of a family's contract, if any. */
export function eventOfAction(family: string, action: string): EventEntry | undefined {
  return byAction.get(`${family} ${action}`)
}
