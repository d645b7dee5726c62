import { attributeMapToJson } from '../../core/antelope/attributes/index.ts'
import type { AttributePair } from '../../core/antelope/attributes/index.ts'
import { ASSETS_ACCOUNT } from './rows.ts'
import type { AssetRow, CollectionRow, ConfigRow, OfferRow, SchemaRow } from './rows.ts'
import { configOf, notifyCollection, putConfig, readRow, schemaOf } from './assets-shared.ts'
import type { AssetOwners } from './assets-shared.ts'
import { attributeMap, packAttributes, unpackAttributes } from './attributes.ts'
import type { Attributes } from './attributes.ts'
import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { nameText } from '../runtime/index.ts'

interface MintData {
  readonly authorized_minter: string
  readonly collection_name: string
  readonly schema_name: string
  readonly template_id: number
  readonly new_asset_owner: string
  readonly immutable_data: readonly AttributePair[]
  readonly mutable_data: readonly AttributePair[]
}

interface Moves {
  readonly from: string
  readonly to: string
  readonly asset_ids: readonly bigint[]
  readonly memo: string
}

/** Handlers of the actions on assets (mint, transfer, edit, burn) and on offers. */
export function ownershipActions(owners: AssetOwners): [string, ActionHandler][] {
  return [
    ['mintasset', (context) => mint(context, owners)],
    ['logmint', logMint],
    ['setassetdata', setAssetData],
    ['logsetdata', logSetData],
    ['transfer', (context) => transfer(context, owners)],
    [
      'logtransfer',
      (context) => notifyCollection(context, (context.data() as CollectionRow).collection_name),
    ],
    ['burnasset', (context) => burn(context, owners)],
    ['logburnasset', (context) => notifyCollection(context, (context.data() as AssetRow).collection_name)],
    ['createoffer', createOffer],
    ['lognewoffer', logNewOffer],
    ['canceloffer', endOffer],
    ['declineoffer', endOffer],
    ['acceptoffer', (context) => acceptOffer(context, owners)],
  ]
}

function mint(context: ActionContext, owners: AssetOwners): void {
  const data = context.data() as MintData
  const { collection_name: collection, new_asset_owner: owner } = data
  const format = schemaOf(context, collection, data.schema_name).format
  const templateData = data.template_id === -1 ? {} : issueOne(context, data, format)
  const config = configOf(context)
  putConfig(context, { ...config, asset_counter: config.asset_counter + 1n })
  const immutable = attributeMapToJson(data.immutable_data)
  const mutable = attributeMapToJson(data.mutable_data)
  context.put(
    { table: 'assets', scope: owner, key: config.asset_counter, payer: data.authorized_minter },
    {
      ...data,
      asset_id: config.asset_counter,
      ram_payer: data.authorized_minter,
      backed_tokens: [],
      immutable_serialized_data: packAttributes(format, immutable),
      mutable_serialized_data: packAttributes(format, mutable),
    },
  )
  owners.set(config.asset_counter, owner)
  context.log('logmint', {
    ...data,
    asset_id: config.asset_counter,
    backed_tokens: [],
    immutable_template_data: attributeMap(context.abi.definition, format, templateData),
  })
}

/** Increments a template's issued supply and returns its immutable data. */
function issueOne(context: ActionContext, data: MintData, format: SchemaRow['format']): Attributes {
  const { collection_name: collection, template_id: id } = data
  const template = readRow(context.get('templates', collection, BigInt(id)), `template ${id}`)
  const { payer } = context.raw('templates', collection, BigInt(id))!
  context.put(
    { table: 'templates', scope: collection, key: BigInt(id), payer },
    {
      ...template,
      issued_supply: template.issued_supply + 1,
    },
  )
  return unpackAttributes(format, template.immutable_serialized_data)
}

function logMint(context: ActionContext): void {
  const { new_asset_owner: owner, collection_name: collection } = context.data() as MintData
  context.notify(owner)
  notifyCollection(context, collection)
}

function setAssetData(context: ActionContext): void {
  const data = context.data() as {
    authorized_editor: string
    asset_owner: string
    asset_id: bigint
    new_mutable_data: AttributePair[]
  }
  const { asset_owner: owner, asset_id: id, authorized_editor: editor } = data
  const asset = readRow(context.get('assets', owner, id), `asset ${id}`)
  const format = schemaOf(context, asset.collection_name, asset.schema_name).format
  const before = unpackAttributes(format, asset.mutable_serialized_data)
  const after = attributeMapToJson(data.new_mutable_data)
  context.put(
    { table: 'assets', scope: owner, key: id, payer: editor },
    {
      ...asset,
      ram_payer: editor,
      mutable_serialized_data: packAttributes(format, after),
    },
  )
  context.log('logsetdata', {
    asset_owner: owner,
    asset_id: id,
    old_data: attributeMap(context.abi.definition, format, before),
    new_data: data.new_mutable_data,
  })
}

function logSetData(context: ActionContext): void {
  const { asset_owner: owner, asset_id: id } = context.data() as { asset_owner: string; asset_id: bigint }
  const { value } = context.raw('assets', owner, id)!
  notifyCollection(context, nameText(value.readBigUInt64LE(8)))
}

function transfer(context: ActionContext, owners: AssetOwners): void {
  const data = context.data() as Moves
  context.notify(data.from)
  context.notify(data.to)
  moveAssets(context, owners, data)
}

/** Moves asset rows with unchanged bytes. Writes one log per collection, ordered by the collections' name values. */
function moveAssets(context: ActionContext, owners: AssetOwners, { from, to, asset_ids, memo }: Moves): void {
  const byCollection = new Map<bigint, bigint[]>()
  for (const id of asset_ids) {
    const { payer, value } = readRow(context.raw('assets', from, id), `asset ${id} of ${from}`)
    context.erase('assets', from, id)
    context.putRaw({ table: 'assets', scope: to, key: id, payer }, value)
    owners.set(id, to)
    const collection = value.readBigUInt64LE(8)
    const ids = byCollection.get(collection)
    if (ids === undefined) byCollection.set(collection, [id])
    else ids.push(id)
  }
  const ordered = [...byCollection].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [collection, ids] of ordered) {
    context.log('logtransfer', { collection_name: nameText(collection), from, to, asset_ids: ids, memo })
  }
}

function burn(context: ActionContext, owners: AssetOwners): void {
  const { asset_owner: owner, asset_id: id } = context.data() as { asset_owner: string; asset_id: bigint }
  const asset = readRow(context.get('assets', owner, id), `asset ${id} of ${owner}`)
  const format = schemaOf(context, asset.collection_name, asset.schema_name).format
  const mapOf = (bytes: Uint8Array): AttributePair[] =>
    attributeMap(context.abi.definition, format, unpackAttributes(format, bytes))
  context.erase('assets', owner, id)
  owners.delete(id)
  context.log('logburnasset', {
    ...asset,
    asset_owner: owner,
    old_immutable_data: mapOf(asset.immutable_serialized_data),
    old_mutable_data: mapOf(asset.mutable_serialized_data),
    asset_ram_payer: asset.ram_payer,
  })
}

function createOffer(context: ActionContext): void {
  const data = context.data() as Omit<OfferRow, 'offer_id' | 'ram_payer'>
  const config = configOf(context)
  context.put(
    { table: 'offers', scope: ASSETS_ACCOUNT, key: config.offer_counter, payer: data.sender },
    {
      ...data,
      offer_id: config.offer_counter,
      ram_payer: data.sender,
    },
  )
  putConfig(context, { ...config, offer_counter: config.offer_counter + 1n } satisfies ConfigRow)
  context.log('lognewoffer', { ...data, offer_id: config.offer_counter })
}

function logNewOffer(context: ActionContext): void {
  const { sender, recipient } = context.data() as OfferRow
  context.notify(sender)
  context.notify(recipient)
}

function endOffer(context: ActionContext): void {
  context.erase('offers', ASSETS_ACCOUNT, (context.data() as { offer_id: bigint }).offer_id)
}

function acceptOffer(context: ActionContext, owners: AssetOwners): void {
  const { offer_id: id } = context.data() as { offer_id: bigint }
  const offer = readRow(context.get('offers', ASSETS_ACCOUNT, id), `offer ${id}`)
  context.notify(offer.sender)
  context.notify(offer.recipient)
  const { sender, recipient } = offer
  const memo = `Accepted Offer ID: ${id}`
  moveAssets(context, owners, { from: recipient, to: sender, asset_ids: offer.recipient_asset_ids, memo })
  moveAssets(context, owners, { from: sender, to: recipient, asset_ids: offer.sender_asset_ids, memo })
  context.erase('offers', ASSETS_ACCOUNT, id)
}
