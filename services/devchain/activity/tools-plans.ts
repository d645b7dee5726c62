import { keyText } from '../../core/antelope/index.ts'
import { nameValue, sha256 } from '../runtime/index.ts'
import { TOOLS_ACCOUNT } from '../contracts/market-rows.ts'
import type { ActionInput } from '../runtime/index.ts'
import type { LinkRow } from '../contracts/market-rows.ts'
import { anyGoods } from './sale-plans.ts'
import { anyPerson, holdsAll, keysOf, marketConfig } from './market-world.ts'
import type { Random } from './random.ts'
import { sentence } from './wording.ts'
import { assetsAction } from './world.ts'
import type { Plan, World } from './world.ts'

/**
 * Type indexes of packed keys and signatures: K1, R1 and WebAuthn. A WebAuthn key has a relying party after the curve
 * point.
 */
const [k1, r1, webAuthn] = [0, 1, 2]

/** Plan of a transaction: announce a claim link, and usually transfer its assets in the same transaction. */
export const announceLink: Plan = (world) => {
  const { random } = world
  const config = marketConfig(world)
  const goods = config && anyGoods(world, config)
  if (goods === null || toolsConfigMissing(world)) return null
  const { owner: creator, ids } = goods
  const memo = random.chance(0.4) ? '' : sentence(random)
  const data = { creator, key: anyKey(random), asset_ids: ids, memo }
  const announcement = toolsAction(world, creator, 'announcelink', data)
  return random.chance(0.85) ? [announcement, sendToLink(world, creator, ids)] : [announcement]
}

/** Plan of a transaction: send the assets of a link that was announced without them. */
export const startLink: Plan = (world) => {
  const link = anyLink(world)
  if (link === null || link.assets_transferred || !holdsAll(world, link.creator, link.asset_ids)) return null
  return [sendToLink(world, link.creator, link.asset_ids)]
}

/** Plan of a transaction: an account with the private key claims the assets of a link. */
export const claimLink: Plan = (world) => {
  const link = anyLink(world)
  const claimer = link && anyPerson(world, [link.creator])
  if (link === null || !link.assets_transferred || claimer === null) return null
  const signature = anySignature(world.random, link.key)
  const data = { link_id: link.link_id, claimer, claimer_signature: signature }
  return [toolsAction(world, claimer, 'claimlink', data)]
}

/** Plan of a transaction: cancel a link. */
export const cancelLink: Plan = (world) => {
  const link = anyLink(world)
  return link && [toolsAction(world, link.creator, 'cancellink', { link_id: link.link_id })]
}

function toolsAction(world: World, actor: string, name: string, data: Record<string, unknown>): ActionInput {
  return world.runtime.action(TOOLS_ACCOUNT, name, [actor], data)
}

function toolsConfigMissing(world: World): boolean {
  return world.runtime.rawRow(TOOLS_ACCOUNT, 'config', TOOLS_ACCOUNT, nameValue('config')) === undefined
}

function anyLink(world: World): LinkRow | null {
  const keys = keysOf(world, TOOLS_ACCOUNT, 'links')
  if (keys.length === 0) return null
  return world.runtime.row(TOOLS_ACCOUNT, 'links', TOOLS_ACCOUNT, world.random.pick(keys)) ?? null
}

function sendToLink(world: World, owner: string, ids: readonly bigint[]): ActionInput {
  const data = { from: owner, to: TOOLS_ACCOUNT, asset_ids: ids, memo: 'link' }
  return assetsAction(world, owner, 'transfer', data)
}

/** A fake public key of a random curve, which looks like a compressed point. */
function anyKey(random: Random): string {
  const curve = random.chance(0.9) ? k1 : random.chance(0.7) ? r1 : webAuthn
  const point = Buffer.concat([Buffer.from([2 + random.below(2)]), anyBytes(random)])
  if (curve !== webAuthn) return keyText('PUB', curve, point)
  const relyingParty = Buffer.from('wallet.example')
  return keyText('PUB', curve, Buffer.concat([point, Buffer.from([1, relyingParty.length]), relyingParty]))
}

/** A fake signature for the curve of a public key. */
function anySignature(random: Random, key: string): string {
  const curve = key.startsWith('PUB_K1_') ? k1 : key.startsWith('PUB_R1_') ? r1 : webAuthn
  const fixed = Buffer.concat([Buffer.from([31]), anyBytes(random), anyBytes(random)])
  if (curve !== webAuthn) return keyText('SIG', curve, fixed)
  const clientData = Buffer.from('{"type":"webauthn.get"}')
  const parts = [fixed, Buffer.from([4, 1, 2, 3, 4, clientData.length]), clientData]
  return keyText('SIG', curve, Buffer.concat(parts))
}

function anyBytes(random: Random): Buffer {
  return sha256(Buffer.from(String(random.fraction())))
}
