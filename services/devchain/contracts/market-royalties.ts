import { formatAsset } from '../../core/antelope/index.ts'
import type { Asset } from '../../core/antelope/index.ts'
import { sha256, nameValue } from '../runtime/index.ts'
import { unpackAttributes } from './attributes.ts'
import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { MARKET_ACCOUNT } from './market-rows.ts'
import type { RoyaltyAttributeRow, RoyaltyConfigRow, RoyaltyPair } from './market-rows.ts'
import { changeBalance, nextMarketId } from './market-shared.ts'
import { ASSETS_ACCOUNT } from './rows.ts'
import type { AssetRow } from './rows.ts'

/** A collection fee to be distributed, and the sold asset. */
interface Royalty {
  readonly terms: { readonly collection_name: string }
  readonly holder: string
  readonly assetIds: readonly bigint[]
  readonly author: string
  readonly fee: Asset
}

interface Payout {
  readonly recipient: string
  readonly amount: bigint
}

/** Handlers of the actions with which authors set the royalties of their collections. */
export const royaltyActions: readonly [string, ActionHandler][] = [
  ['setroyalconf', setRoyaltyConfig],
  ['delroyalconf', (context) => eraseRow(context, 'royaltyconf', MARKET_ACCOUNT)],
  ['settemplroy', setTemplateRoyalty],
  ['deltemplroy', deleteTemplateRoyalty],
  ['setattrroy', setAttributeRoyalty],
  ['delattrroy', deleteAttributeRoyalty],
]

/**
 * Distributes a collection fee by the collection's royalty rules, with logs whose amounts add up to the fee. Without
 * rules the author gets the whole fee, and no log is written.
 */
export function payRoyalties(context: ActionContext, royalty: Royalty): void {
  const { author, fee } = royalty
  const collection = royalty.terms.collection_name
  const config = context.get('royaltyconf', MARKET_ACCOUNT, nameValue(collection))
  const assetId = royalty.assetIds[0]
  if (config === undefined || fee.amount === 0n || assetId === undefined) {
    changeBalance(context, author, formatAsset(fee), 1)
    return
  }
  // The asset has no row if the buyer has already claimed and burned the asset.
  const asset = context.host.row(ASSETS_ACCOUNT, 'assets', royalty.holder, assetId)
  const left = asset === undefined ? fee.amount : payRules(context, { config, asset, fee, collection })
  if (left === 0n) return
  const amount = formatAsset({ ...fee, amount: left })
  changeBalance(context, author, amount, 1)
  context.log('logroydust', { collection_name: collection, collection_author: author, amount })
}

/**
 * Pays royalties by the rules of the collection.
 * @returns the part of the fee that no rule assigned.
 */
function payRules(
  context: ActionContext,
  sold: {
    readonly config: RoyaltyConfigRow
    readonly asset: AssetRow
    readonly fee: Asset
    readonly collection: string
  },
): bigint {
  const { config, asset, fee, collection } = sold
  const { split_founders: founders, split_templates: templates, split_attributes: attributes } = config
  const whole = BigInt(founders + templates + attributes)
  const partOf = (split: number): bigint => (fee.amount * BigInt(split)) / whole
  const identity = { collection_name: collection, asset_id: asset.asset_id }
  let left = fee.amount
  const pay = (log: string, pairs: readonly RoyaltyPair[], part: bigint, more: object): void => {
    const payouts = divide(pairs, part)
    if (payouts.length === 0) return
    const printed = payouts.map(({ recipient, amount }) => {
      left -= amount
      const quantity = formatAsset({ ...fee, amount })
      changeBalance(context, recipient, quantity, 1)
      return { recipient, amount: quantity }
    })
    context.log(log, { ...identity, ...more, payouts: printed })
  }
  pay('logroyfound', config.founders, partOf(founders), {})
  const template = context.get('royaltytemp', collection, BigInt.asUintN(64, BigInt(asset.template_id)))
  if (template !== undefined) {
    pay('logroytempl', template.recipients, partOf(templates), { template_id: asset.template_id })
  }
  const rules = matchingRules(context, collection, asset, config.attribute_mode)
  const weight = BigInt(rules.reduce((sum, rule) => sum + rule.weight, 0))
  for (const rule of rules) {
    const part = (partOf(attributes) * BigInt(rule.weight)) / weight
    pay('logroyattr', rule.recipients, part, { rule_id: rule.index })
  }
  return left
}

function divide(pairs: readonly RoyaltyPair[], part: bigint): Payout[] {
  const whole = BigInt(pairs.reduce((sum, { weight }) => sum + weight, 0))
  if (whole === 0n) return []
  return pairs
    .map(({ recipient, weight }) => ({ recipient, amount: (part * BigInt(weight)) / whole }))
    .filter(({ amount }) => amount > 0n)
}

function matchingRules(
  context: ActionContext,
  collection: string,
  asset: AssetRow,
  mode: number,
): RoyaltyAttributeRow[] {
  const rules = rulesOf(context, collection)
  if (rules.length === 0) return []
  const layers = layersOf(context, collection, asset)
  // With `attribute_mode` 0, rules with source 0 read the merged attribute layers. The first layer with a field wins.
  const merged = Object.assign({}, ...[...layers].reverse()) as Record<string, unknown>
  return rules.filter(({ source, field, value: [, wanted] }) => {
    const data = source === 0 ? (mode === 0 ? merged : {}) : (layers[source - 1] ?? {})
    return field in data && String(data[field]) === String(wanted)
  })
}

/** Attribute layers: asset immutable, asset mutable, template immutable, template mutable. */
function layersOf(context: ActionContext, collection: string, asset: AssetRow): Record<string, unknown>[] {
  const { host } = context
  const format = host.row(ASSETS_ACCOUNT, 'schemas', collection, nameValue(asset.schema_name))?.format ?? []
  const key = BigInt(asset.template_id)
  const hasTemplate = asset.template_id !== -1
  const template = hasTemplate ? host.row(ASSETS_ACCOUNT, 'templates', collection, key) : undefined
  const template2 = hasTemplate ? host.row(ASSETS_ACCOUNT, 'templates2', collection, key) : undefined
  return [
    asset.immutable_serialized_data,
    asset.mutable_serialized_data,
    template?.immutable_serialized_data ?? new Uint8Array(),
    template2?.mutable_serialized_data ?? new Uint8Array(),
  ].map((bytes) => ({ ...unpackAttributes(format, bytes) }))
}

function setRoyaltyConfig(context: ActionContext): void {
  const { collection_name: collection, ...data } = context.data() as RoyaltyConfigRow & {
    collection_name: string
  }
  const key = nameValue(collection)
  context.put(
    { table: 'royaltyconf', scope: MARKET_ACCOUNT, key, payer: context.actors[0]! },
    { ...data, collection },
  )
}

function setTemplateRoyalty(context: ActionContext): void {
  const data = context.data() as {
    collection_name: string
    template_id: number
    recipients: readonly RoyaltyPair[]
  }
  const { collection_name: collection, template_id: id, recipients } = data
  const row = { template_id: id, recipients }
  context.put({ table: 'royaltytemp', scope: collection, key: BigInt(id), payer: context.actors[0]! }, row)
}

function deleteTemplateRoyalty(context: ActionContext): void {
  const data = context.data() as { collection_name: string; template_id: number }
  context.erase('royaltytemp', data.collection_name, BigInt(data.template_id))
}

function setAttributeRoyalty(context: ActionContext): void {
  const data = context.data() as {
    collection_name: string
    source: number
    field: string
    value: [string, unknown]
    rule_weight: number
    recipients: readonly RoyaltyPair[]
  }
  const { collection_name: collection, source, field, value, rule_weight: weight, recipients } = data
  const hash = lookupHash(context, source, field, value)
  const known = rulesOf(context, collection).find((rule) => rule.lookup_hash === hash)
  const index = known?.index ?? nextMarketId(context, 'attrroyalty')
  const row = { index, source, field, value, weight, recipients, lookup_hash: hash }
  context.put({ table: 'royaltyattr', scope: collection, key: index, payer: context.actors[0]! }, row)
}

function deleteAttributeRoyalty(context: ActionContext): void {
  const data = context.data() as { collection_name: string; rule_id: bigint }
  context.erase('royaltyattr', data.collection_name, data.rule_id)
}

function eraseRow(context: ActionContext, table: string, scope: string): void {
  const { collection_name: collection } = context.data() as { collection_name: string }
  context.erase(table, scope, nameValue(collection))
}

function rulesOf(context: ActionContext, collection: string): RoyaltyAttributeRow[] {
  const table = context.host.state.rows.table(
    nameValue(MARKET_ACCOUNT),
    nameValue(collection),
    nameValue('royaltyattr'),
  )
  return [...(table?.rows.keys() ?? [])].map((key) => context.get('royaltyattr', collection, key)!)
}

/** sha256 over a rule's source (uint8), field (string) and value (variant), each packed. */
function lookupHash(context: ActionContext, source: number, field: string, value: [string, unknown]): string {
  const text = Buffer.from(field)
  const packedValue = context.abi.compiled.encoder('ATOMIC_ATTRIBUTE')(value)
  return sha256(Buffer.concat([Buffer.from([source, text.length]), text, packedValue])).toString('hex')
}
