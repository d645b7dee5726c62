import { deployedAbi, deployedCode } from '../contracts/deployed-abis.ts'
import { isSecondMarket } from '../contracts/market-shared.ts'
import { MARKET_ACCOUNT, TOOLS_ACCOUNT } from '../contracts/market-rows.ts'
import { nameValue } from '../runtime/index.ts'
import { newAccountAction, setAbiAction, setCodeAction, SYSTEM_ACCOUNT } from '../contracts/system.ts'
import type { ActionInput } from '../runtime/index.ts'
import type { DeployedContract } from '../contracts/deployed-abis.ts'
import { anyCollection } from './collection-plans.ts'
import { anyPerson, anyRow, keysOf, marketAction, marketConfig, marketKnows } from './market-world.ts'
import { missingPair } from './oracle-plans.ts'
import { collectionName, rarities, sentence } from './wording.ts'
import type { Plan, World } from './world.ts'

/** Sales that must exist under the first market version before the second is deployed. */
const SALES_OF_FIRST_VERSION = 120n

/** Maximum numbers of marketplaces, and of bonus fees that are active at the same time. */
const MOST_MARKETPLACES = 9
const MOST_BONUS_FEES = 3

/** Listing types that a bonus fee can apply to, as the contract names their counters. */
const feeKinds = ['sale', 'auction', 'buyoffer', 'tbuyoffer']

/** Symbol pairs for prices in dollars and euros, each with its oracle pair. */
const symbolPairs = [
  {
    delphi_pair_name: 'karmausd',
    invert_delphi_pair: false,
    listing_symbol: '2,USD',
    settlement_symbol: '4,KARMA',
  },
  {
    delphi_pair_name: 'eurwax',
    invert_delphi_pair: true,
    listing_symbol: '2,EUR',
    settlement_symbol: '8,WAX',
  },
]

/**
 * Plan of a transaction: the next step of deployment, which deploys a missing contract, replaces an old version, or
 * adds a missing pair.
 */
export const deploy: Plan = (world) =>
  deployTools(world) ??
  upgradeMarket(world) ??
  missingPair(world) ??
  addSymbolPair(world) ??
  (hasSalesOfFirstVersion(world) ? deploySecondMarket(world) : null)

/** Plan of a transaction: register a marketplace. */
export const newMarketplace: Plan = (world) => {
  const creator = anyPerson(world, [])
  if (marketConfig(world) === null || creator === null) return null
  if (keysOf(world, MARKET_ACCOUNT, 'marketplaces').length >= MOST_MARKETPLACES) return null
  const name = collectionName(world.random)
  if (world.runtime.row(MARKET_ACCOUNT, 'marketplaces', MARKET_ACCOUNT, nameValue(name)) !== undefined)
    return null
  return [marketAction(world, creator, 'regmarket', { creator, marketplace_name: name })]
}

/**
 * Plan of a transaction: create a bonus fee, or end one. A fee is first ended for new listings (`stopbonusfee`), later
 * for all listings (`delbonusfee`).
 */
export const changeBonusFee: Plan = (world) => {
  const { random } = world
  const recipient = anyPerson(world, [])
  if (marketConfig(world) === null || recipient === null) return null
  const row = anyRow(world, 'bonusfees')
  if (
    row !== null &&
    (random.chance(0.5) || keysOf(world, MARKET_ACCOUNT, 'bonusfees').length >= MOST_BONUS_FEES)
  ) {
    const isRunning = row.counter_ranges.some(({ end_id: end }) => end === 2n ** 64n - 1n)
    const data = { bonusfee_id: row.bonusfee_id }
    return [marketAction(world, MARKET_ACCOUNT, isRunning ? 'stopbonusfee' : 'delbonusfee', data)]
  }
  const kinds = feeKinds.filter(
    (kind) => random.chance(0.6) && (kind !== 'tbuyoffer' || hasCounter(world, kind)),
  )
  if (kinds.length === 0) return null
  const data = {
    fee_recipient: recipient,
    fee: random.between(1, 5) / 1000,
    applicable_counter_names: kinds,
    fee_name: sentence(random),
  }
  return [marketAction(world, MARKET_ACCOUNT, 'addbonusfee', data)]
}

/** Plan of a transaction: withdraw one of an account's token balances from the market. */
export const withdraw: Plan = (world) => {
  const row = anyRow(world, 'balances')
  if (row === null || world.directory.hasCode(row.owner)) return null
  const known = world.runtime.state.accounts.has(nameValue(row.owner))
  if (!known || row.quantities.length === 0) return null
  const data = { owner: row.owner, token_to_withdraw: world.random.pick(row.quantities) }
  return [marketAction(world, row.owner, 'withdraw', data)]
}

/**
 * Plan of a transaction: change the royalties of a generated collection: shares of founders, of a template's
 * recipients, or of an attribute.
 */
export const changeRoyalties: Plan = (world) => {
  const collection = anyCollection(world)
  if (!marketKnows(world, 'setroyalconf') || collection === null) return null
  const { random } = world
  const { name, author, templates } = collection
  const configured =
    world.runtime.row(MARKET_ACCOUNT, 'royaltyconf', MARKET_ACCOUNT, nameValue(name)) !== undefined
  if (configured && random.chance(0.05)) {
    return [marketAction(world, author, 'delroyalconf', { collection_name: name })]
  }
  if (!configured || random.chance(0.2)) {
    const data = {
      collection_name: name,
      founders: recipients(world),
      attribute_mode: random.chance(0.8) ? 0 : 1,
      split_founders: random.between(1, 60),
      split_templates: random.between(0, 40),
      split_attributes: random.between(0, 40),
    }
    return [marketAction(world, author, 'setroyalconf', data)]
  }
  if (templates.length > 0 && random.chance(0.5)) {
    const id = random.pick(templates)
    const exists = world.runtime.row(MARKET_ACCOUNT, 'royaltytemp', nameValue(name), BigInt(id)) !== undefined
    const data = { collection_name: name, template_id: id }
    if (exists && random.chance(0.3)) return [marketAction(world, author, 'deltemplroy', data)]
    return [marketAction(world, author, 'settemplroy', { ...data, recipients: recipients(world) })]
  }
  return changeAttributeRoyalty(world, name, author)
}

function changeAttributeRoyalty(world: World, collection: string, author: string): ActionInput[] {
  const { random, runtime } = world
  const table = runtime.state.rows.table(
    nameValue(MARKET_ACCOUNT),
    nameValue(collection),
    nameValue('royaltyattr'),
  )
  const rules = [...(table?.rows.keys() ?? [])]
  if (rules.length > 0 && random.chance(0.2)) {
    const data = { collection_name: collection, rule_id: random.pick(rules) }
    return [marketAction(world, author, 'delattrroy', data)]
  }
  const data = {
    collection_name: collection,
    // Most royalty rules use source 0: the contract then searches `rarity` in all attribute layers, and finds it.
    source: random.chance(0.6) ? 0 : random.below(5),
    field: 'rarity',
    value: ['string', random.pick(rarities)],
    rule_weight: random.between(1, 10),
    recipients: recipients(world),
  }
  return [marketAction(world, author, 'setattrroy', data)]
}

function recipients(world: World): { recipient: string; weight: number }[] {
  const { random, directory } = world
  const names = new Set(Array.from({ length: random.between(1, 3) }, () => random.pick(directory.people)))
  return [...names].map((recipient) => ({ recipient, weight: random.between(1, 100) }))
}

function deployTools(world: World): ActionInput[] | null {
  const { state } = world.runtime
  if (world.directory.config() === undefined) return null
  const account = state.accounts.get(nameValue(TOOLS_ACCOUNT))
  if (account === undefined) return [newAccountAction(SYSTEM_ACCOUNT, TOOLS_ACCOUNT)]
  if (account.abi.length === 0) return setContract(TOOLS_ACCOUNT, 'tools')
  const config = world.runtime.rawRow(TOOLS_ACCOUNT, 'config', TOOLS_ACCOUNT, nameValue('config'))
  if (config !== undefined) return null
  return [world.runtime.action(TOOLS_ACCOUNT, 'init', [TOOLS_ACCOUNT], {})]
}

/**
 * Actions that upgrade the recorded market to the version with template buy offers; null if the market has template buy
 * offers, or if there is no market.
 */
function upgradeMarket(world: World): ActionInput[] | null {
  if (marketConfig(world) === null || marketKnows(world, 'createtbuyo')) return null
  return setContract(MARKET_ACCOUNT, 'market.v1.3.3')
}

function addSymbolPair(world: World): ActionInput[] | null {
  const config = marketConfig(world)
  if (config === null) return null
  const known = config.supported_symbol_pairs.map(({ delphi_pair_name: name }) => name)
  const missing = symbolPairs.find(({ delphi_pair_name: name }) => !known.includes(name))
  return missing === undefined ? null : [marketAction(world, MARKET_ACCOUNT, 'adddelphi', missing)]
}

/** Whether the first market version has enough sales, including bundles. */
function hasSalesOfFirstVersion(world: World): boolean {
  const sales = world.runtime.row(MARKET_ACCOUNT, 'counters', MARKET_ACCOUNT, nameValue('sale'))
  return (sales?.counter_value ?? 0n) >= SALES_OF_FIRST_VERSION
}

/** Plan of a transaction: deploy the second market version. */
export const deploySecondMarket: Plan = (world) => {
  const config = marketConfig(world)
  if (config === null || isSecondMarket(config.version)) return null
  world.directory.noteMarketUpgrade(world.runtime.nowMs)
  const version = marketAction(world, MARKET_ACCOUNT, 'setversion', { new_version: '2.0.0' })
  return [...setContract(MARKET_ACCOUNT, 'market.v2'), version]
}

function setContract(account: string, contract: DeployedContract): ActionInput[] {
  return [setCodeAction(account, deployedCode(contract)), setAbiAction(account, deployedAbi(contract))]
}

function hasCounter(world: World, kind: string): boolean {
  return world.runtime.row(MARKET_ACCOUNT, 'counters', MARKET_ACCOUNT, nameValue(kind)) !== undefined
}
