import { ASSETS_ACCOUNT } from '../contracts/rows.ts'
import { nameValue } from '../runtime/index.ts'
import type { ActionInput } from '../runtime/index.ts'
import type { OfferRow } from '../contracts/rows.ts'
import { sortedKeys } from '../chain/index.ts'
import { anyCollection } from './collection-plans.ts'
import { changingData, identityData, sentence } from './wording.ts'
import { assetOf, assetsAction, formatOf, isTransferable, mapOf, templateOf } from './world.ts'
import type { Plan, World } from './world.ts'

/** Maximum number of mint actions in a transaction, and of assets in a transfer. */
const MAX_MINTS = 3
const MAX_MOVES = 5

/** Number of random assets that are examined to find one of a generated collection. */
const MAX_TRIES = 6

/** An asset of a generated collection, with the author who may edit it. */
type OwnAsset = NonNullable<ReturnType<typeof assetOf>> & { readonly owner: string; readonly author: string }

/** Plan of a transaction: mint one to three assets, each in its own action. */
export const mint: Plan = (world) => {
  const count = world.random.chance(0.7) ? 1 : world.random.between(2, MAX_MINTS)
  const actions = Array.from({ length: count }, () => mintOne(world)).filter((action) => action !== null)
  return actions.length === 0 ? null : actions
}

function mintOne(world: World): ActionInput | null {
  const { random, directory } = world
  const collection = anyCollection(world)
  if (collection === null || collection.schemas.length === 0) return null
  const id = collection.templates.length > 0 && random.chance(0.85) ? random.pick(collection.templates) : -1
  const template = id === -1 ? undefined : templateOf(world, collection.name, id)
  // Several mints in one transaction all see the old supply, so a template's last few assets stay unminted.
  const left = template && template.max_supply > 0 ? template.max_supply - template.issued_supply : MAX_MINTS
  if ((id !== -1 && template === undefined) || left < MAX_MINTS) return null
  const schema = template?.schema_name ?? random.pick(collection.schemas)
  const format = formatOf(world, collection.name, schema)
  const data = {
    authorized_minter: collection.author,
    collection_name: collection.name,
    schema_name: schema,
    template_id: id,
    new_asset_owner: random.pick(directory.people),
    immutable_data: mapOf(world, format, template ? {} : identityData(random, format)),
    mutable_data: mapOf(world, format, changingData(random, format)),
    tokens_to_back: [],
  }
  return assetsAction(world, collection.author, 'mintasset', data)
}

/** Plan of a transaction: transfer one asset or a few of the same owner. */
export const transfer: Plan = (world) => {
  const first = anyAsset(world)
  if (first === null) return null
  const to = otherPerson(world, first.owner)
  if (to === null) return null
  const ids = world.random.chance(0.7) ? [first.id] : assetsOf(world, first.owner, first.id)
  const memo = world.random.chance(0.6) ? '' : sentence(world.random)
  return [assetsAction(world, first.owner, 'transfer', { from: first.owner, to, asset_ids: ids, memo })]
}

/** Plan of a transaction: change the mutable data of an asset of a generated collection. */
export const editAsset: Plan = (world) => {
  const found = ownAsset(world)
  if (found === null) return null
  const { owner, asset, author } = found
  const format = formatOf(world, asset.collection_name, asset.schema_name)
  const data = {
    authorized_editor: author,
    asset_owner: owner,
    asset_id: asset.asset_id,
    new_mutable_data: mapOf(world, format, changingData(world.random, format)),
  }
  return [assetsAction(world, author, 'setassetdata', data)]
}

/** Plan of a transaction: burn an asset of a generated collection. */
export const burn: Plan = (world) => {
  const found = ownAsset(world)
  if (found === null || found.template?.burnable === false) return null
  const data = { asset_owner: found.owner, asset_id: found.asset.asset_id }
  return [assetsAction(world, found.owner, 'burnasset', data)]
}

/** Plan of a transaction: create an offer of one account's assets for another account's assets, or for nothing. */
export const createOffer: Plan = (world) => {
  const wanted = anyAsset(world)
  const given = anyAsset(world)
  if (wanted === null || given === null || wanted.owner === given.owner) return null
  const data = {
    sender: given.owner,
    recipient: wanted.owner,
    sender_asset_ids: world.random.chance(0.85) ? [given.id] : [],
    recipient_asset_ids: [wanted.id],
    memo: world.random.chance(0.5) ? '' : sentence(world.random),
  }
  return [assetsAction(world, given.owner, 'createoffer', data)]
}

/** Plan of a transaction: accept an offer whose assets have not moved. */
export const acceptOffer: Plan = (world) => {
  const offer = anyOffer(world)
  if (offer === null) return null
  const { directory } = world
  const held =
    offer.sender_asset_ids.every((id) => directory.ownerOf(id) === offer.sender) &&
    offer.recipient_asset_ids.every((id) => directory.ownerOf(id) === offer.recipient)
  if (!held) return null
  return [assetsAction(world, offer.recipient, 'acceptoffer', { offer_id: offer.offer_id })]
}

/** Plan of a transaction: decline an offer. */
export const declineOffer: Plan = (world) => {
  const offer = anyOffer(world)
  return offer && [assetsAction(world, offer.recipient, 'declineoffer', { offer_id: offer.offer_id })]
}

/** Plan of a transaction: cancel an offer. */
export const cancelOffer: Plan = (world) => {
  const offer = anyOffer(world)
  return offer && [assetsAction(world, offer.sender, 'canceloffer', { offer_id: offer.offer_id })]
}

/** A random transferable asset of an account without code; null if none was found. */
export function anyAsset(world: World): { id: bigint; owner: string } | null {
  const next = world.directory.config()?.asset_counter
  const found = next === undefined ? null : world.directory.randomAsset(world.random, next)
  return found !== null && isTransferable(world, found.owner, found.id) ? found : null
}

/** Ids of the asset `first` and up to four other assets of the owner. As in a user's selection, ids are not sorted. */
function assetsOf(world: World, owner: string, first: bigint): bigint[] {
  const others: bigint[] = []
  for (const id of world.directory.assetsOf(owner)) {
    if (others.length >= MAX_MOVES - 1) break
    if (id !== first && isTransferable(world, owner, id)) others.push(id)
  }
  return [...others, first]
}

function ownAsset(world: World): OwnAsset | null {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const next = world.directory.config()?.asset_counter
    const found = next === undefined ? null : world.directory.randomAsset(world.random, next)
    const row = found && assetOf(world, found.owner, found.id)
    if (found === null || row === null) return null
    const collection = world.directory.collections.find(({ name }) => name === row.asset.collection_name)
    if (collection !== undefined) return { ...row, owner: found.owner, author: collection.author }
  }
  return null
}

/** A random account other than `than`; null if the draw hits `than`. */
function otherPerson(world: World, than: string): string | null {
  const person = world.random.pick(world.directory.people)
  return person === than ? null : person
}

function anyOffer(world: World): OfferRow | null {
  const { rows } = world.runtime.state
  const table = rows.table(nameValue(ASSETS_ACCOUNT), nameValue(ASSETS_ACCOUNT), nameValue('offers'))
  if (table === undefined || table.rows.size === 0) return null
  const key = world.random.pick(sortedKeys(table))
  const offer = world.runtime.row(ASSETS_ACCOUNT, 'offers', ASSETS_ACCOUNT, key)!
  return world.directory.hasCode(offer.recipient) || world.directory.hasCode(offer.sender) ? null : offer
}
