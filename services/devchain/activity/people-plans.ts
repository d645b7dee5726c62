import { parseAsset, formatAsset } from '../../core/antelope/index.ts'
import { nameValue } from '../runtime/index.ts'
import { newAccountAction, SYSTEM_ACCOUNT } from '../contracts/system.ts'
import type { ActionInput } from '../runtime/index.ts'
import { accountName, sentence } from './wording.ts'
import type { Plan, World } from './world.ts'

/** A new account gets this amount from the treasury, in the smallest unit of the token. */
const WELCOME_AMOUNT = 10_000_000_000n
const SECOND_WELCOME_AMOUNT = 1_000_000n

/** Plan of a transaction: create an account, and send it tokens if the treasury has some. */
export const newAccount: Plan = (world) => {
  const name = accountName(world.random)
  if (world.runtime.state.accounts.has(nameValue(name))) return null
  const actions = [newAccountAction(SYSTEM_ACCOUNT, name)]
  const { treasury, secondTreasury } = world.directory
  for (const [from, amount] of [
    [treasury, WELCOME_AMOUNT],
    [secondTreasury, SECOND_WELCOME_AMOUNT],
  ] as const) {
    const gift = from && payment(world, from, amount, { from: from.account, to: name, memo: 'welcome' })
    if (gift !== null) actions.push(gift)
  }
  return actions
}

/** Plan of a transaction: pay tokens from one account to another. */
export const tokenTransfer: Plan = (world) => {
  const { random, directory } = world
  const { treasury, people } = directory
  if (treasury === null || people.length < 2) return null
  const [from, to] = [random.pick(people), random.pick(people)]
  if (from === to) return null
  const amount = BigInt(random.between(1, 1_000_000))
  const memo = random.chance(0.5) ? '' : sentence(random)
  const action = payment(world, treasury, amount, { from, to, memo })
  return action && [action]
}

/** Action: pay `amount` in the token's smallest unit; null if the payer has less. */
export function payment(
  world: World,
  { token, key }: { readonly token: string; readonly key: bigint },
  amount: bigint,
  { from, to, memo }: { readonly from: string; readonly to: string; readonly memo: string },
): ActionInput | null {
  const row = world.runtime.row(token, 'accounts', from, key)
  if (row === undefined) return null
  const balance = parseAsset(row.balance)
  if (balance.amount < amount) return null
  const quantity = formatAsset({ ...balance, amount })
  return world.runtime.action(token, 'transfer', [from], { from, to, quantity, memo })
}
