import { formatAsset, formatSymbol, parseAsset, parseSymbol } from '../../core/antelope/index.ts'
import { sortedKeys } from '../chain/index.ts'
import { ASSETS_ACCOUNT } from '../contracts/rows.ts'
import { MARKET_ACCOUNT, ORACLE_ACCOUNT } from '../contracts/market-rows.ts'
import { nameValue } from '../runtime/index.ts'
import { symbolCodeValue, TOKEN_ACCOUNT } from '../contracts/token.ts'
import type { ActionInput, Fields } from '../runtime/index.ts'
import type { DatapointRow, MarketConfigRow } from '../contracts/market-rows.ts'
import type { TableRows } from '../contracts/rows.ts'
import { payment } from './people-plans.ts'
import type { Random } from './random.ts'
import { assetsAction, isTransferable } from './world.ts'
import type { Plan, World } from './world.ts'

/** A buyer without money gets this multiple of the price from the treasury. */
const REFILL_FACTOR = 3n

/** Probability that a listing names no marketplace and so uses the default one. */
const DEFAULT_MARKETPLACE_CHANCE = 0.5

/** An action of the market contract, signed by one account. */
export function marketAction(world: World, actor: string, name: string, data: Fields): ActionInput {
  return world.runtime.action(MARKET_ACCOUNT, name, [actor], data)
}

/** Whether the ABI in force of the market contract has the action. */
export function marketKnows(world: World, action: string): boolean {
  const abi = world.runtime.abis.find(nameValue(MARKET_ACCOUNT))
  return abi?.definition.actions.some(({ name }) => name === action) === true
}

/** The configuration of the market; null if the chain has none. */
export function marketConfig(world: World): MarketConfigRow | null {
  const row = world.runtime.row(MARKET_ACCOUNT, 'config', MARKET_ACCOUNT, nameValue('config'))
  return row === undefined ? null : (row as unknown as MarketConfigRow)
}

/** Primary keys of the rows of a contract table, in the scope that is the contract's own account. */
export function keysOf(world: World, account: string, table: string): readonly bigint[] {
  const found = world.runtime.state.rows.table(nameValue(account), nameValue(account), nameValue(table))
  return found === undefined ? [] : sortedKeys(found)
}

/** A random row of a market table; null if the table is empty. */
export function anyRow<K extends keyof TableRows>(world: World, table: K): TableRows[K] | null {
  const keys = keysOf(world, MARKET_ACCOUNT, table)
  if (keys.length === 0) return null
  return world.runtime.row(MARKET_ACCOUNT, table, MARKET_ACCOUNT, world.random.pick(keys)) ?? null
}

/** Name of a random marketplace; usually the default one, whose name is empty. */
export function anyMarketplace(world: World): string {
  if (world.random.chance(DEFAULT_MARKETPLACE_CHANCE)) return ''
  return anyRow(world, 'marketplaces')?.marketplace_name ?? ''
}

/** A random price of a few units of a symbol (`8,WAX`): mostly small, with two decimals. */
export function anyPrice(random: Random, symbolText: string, unit = 1): string {
  const { precision, symbol } = parseSymbol(symbolText)
  const hundredths = Math.max(1, Math.round(100 * unit * Math.exp(random.fraction() * 4 - 1)))
  return formatAsset({ amount: (BigInt(hundredths) * 10n ** BigInt(precision)) / 100n, precision, symbol })
}

/** Whether the account owns all these assets and may transfer them. */
export function holdsAll(world: World, owner: string, ids: readonly bigint[]): boolean {
  return ids.every((id) => world.directory.ownerOf(id) === owner && isTransferable(world, owner, id))
}

export function offerExists(world: World, id: bigint): boolean {
  const account = nameValue(ASSETS_ACCOUNT)
  return world.runtime.state.rows.row(account, account, nameValue('offers'), id) !== undefined
}

/** Datapoints of an oracle pair. */
export function datapointsOf(world: World, pair: string): DatapointRow[] {
  const { runtime } = world
  const table = runtime.state.rows.table(nameValue(ORACLE_ACCOUNT), nameValue(pair), nameValue('datapoints'))
  if (table === undefined) return []
  return sortedKeys(table).map((key) => runtime.row(ORACLE_ACCOUNT, 'datapoints', nameValue(pair), key)!)
}

/** The latest median of an oracle pair; null if there is none or it is 0. */
export function newestMedian(world: World, pair: string): bigint | null {
  let newest: DatapointRow | null = null
  for (const row of datapointsOf(world, pair)) {
    if (newest === null || row.timestamp > newest.timestamp) newest = row
  }
  return newest === null || newest.median === 0n ? null : newest.median
}

/**
 * Actions needed before an account can spend `price` on the market: none, a deposit, or a payment from the treasury
 * and a deposit. Null if no account has enough.
 */
export function fund(world: World, buyer: string, price: string): ActionInput[] | null {
  const { amount, symbol } = parseAsset(price)
  const held = world.runtime.row(MARKET_ACCOUNT, 'balances', MARKET_ACCOUNT, nameValue(buyer))?.quantities
  const balance = held?.map(parseAsset).find((each) => each.symbol === symbol)?.amount ?? 0n
  if (balance >= amount) return []
  const token = tokenOf(world, price)
  if (token === null) return null
  const [wanted, key] = [amount * REFILL_FACTOR, symbolCodeValue(symbol)]
  const source = { token, key }
  const wallet = parseAsset(world.runtime.row(token, 'accounts', buyer, key)?.balance ?? `0 ${symbol}`).amount
  if (wallet >= wanted) return deposit(world, buyer, source, wanted)
  if (wallet >= amount) return deposit(world, buyer, source, amount)
  const { treasury, secondTreasury } = world.directory
  const from = [treasury, secondTreasury].find((each) => each?.token === token)
  if (from == null || from.account === buyer) return null
  const gift = payment(world, source, wanted, { from: from.account, to: buyer, memo: 'pocket money' })
  if (gift === null) return null
  // The deposit spends the payment of the previous action. That action has not run yet, so the balance is unknown here.
  const quantity = formatAsset({ ...parseAsset(price), amount: wanted })
  const data = { from: buyer, to: MARKET_ACCOUNT, quantity, memo: 'deposit' }
  return [gift, world.runtime.action(token, 'transfer', [buyer], data)]
}

/** A random account; null if the draw hits an account of `but`. */
export function anyPerson(world: World, but: readonly string[]): string | null {
  const { people } = world.directory
  if (people.length === 0) return null
  const person = world.random.pick(people)
  return but.includes(person) ? null : person
}

/** Action: offer assets to the market. The memo tells the contract the purpose. */
export function offerToMarket(
  world: World,
  owner: string,
  ids: readonly bigint[],
  memo: 'sale' | 'buyoffer' | 'tbuyoffer',
): ActionInput {
  return assetsAction(world, owner, 'createoffer', {
    sender: owner,
    recipient: MARKET_ACCOUNT,
    sender_asset_ids: ids,
    recipient_asset_ids: [],
    memo,
  })
}

/**
 * Creates the plan by which another account takes over the RAM payment of a listing. `key` is the field of the
 * listing's id.
 */
export function payRam(
  table: 'sales' | 'auctions' | 'buyoffers',
  action: string,
  key: 'sale_id' | 'auction_id' | 'buyoffer_id',
): Plan {
  return (world) => {
    const keys = keysOf(world, MARKET_ACCOUNT, table)
    const payer = keys.length === 0 ? null : anyPerson(world, [])
    if (payer === null) return null
    return [marketAction(world, payer, action, { payer, [key]: world.random.pick(keys) })]
  }
}

function deposit(
  world: World,
  owner: string,
  source: { token: string; key: bigint },
  amount: bigint,
): ActionInput[] | null {
  const action = payment(world, source, amount, { from: owner, to: MARKET_ACCOUNT, memo: 'deposit' })
  return action && [action]
}

function tokenOf(world: World, price: string): string | null {
  const { precision, symbol } = parseAsset(price)
  const wanted = formatSymbol(precision, symbol)
  const token = marketConfig(world)?.supported_tokens.find(({ token_symbol: each }) => each === wanted)
  return token?.token_contract ?? null
}

/** Symbol of the chain's own token in the form of the market's configuration, such as `8,WAX`. */
export function mainSymbol(config: MarketConfigRow): string | null {
  const token = config.supported_tokens.find((each) => each.token_contract === TOKEN_ACCOUNT)
  return token?.token_symbol ?? null
}
