import { parseAsset, formatAsset } from '../../core/antelope/index.ts'
import { nameValue, newAccountAction, systemAccount, tokenAccount } from '../contracts/index.ts'
import type { ActionInput } from '../contracts/index.ts'
import { accountName, sentence } from './wording.ts'
import type { Plan, World } from './world.ts'

/** What a newcomer gets from the treasury, in the smallest unit of the token. */
const welcomeAmount = 10_000_000_000n

/** A new account, with some tokens to start with when somebody has them. */
export const newAccount: Plan = (world) => {
  const name = accountName(world.random)
  if (world.runtime.state.accounts.has(nameValue(name))) return null
  const actions = [newAccountAction(systemAccount, name)]
  const { treasury } = world.directory
  if (treasury !== null) {
    const gift = payment(world, treasury.account, name, treasury.key, welcomeAmount, 'welcome')
    if (gift !== null) actions.push(gift)
  }
  return actions
}

/** A payment between two accounts. */
export const tokenTransfer: Plan = ({ random, directory, ...world }) => {
  const { treasury, people } = directory
  if (treasury === null || people.length < 2) return null
  const [from, to] = [random.pick(people), random.pick(people)]
  if (from === to) return null
  const amount = BigInt(random.between(1, 1_000_000))
  const memo = random.chance(0.5) ? '' : sentence(random)
  const action = payment({ random, directory, ...world }, from, to, treasury.key, amount, memo)
  return action && [action]
}

function payment(
  world: World,
  from: string,
  to: string,
  key: bigint,
  amount: bigint,
  memo: string,
): ActionInput | null {
  const row = world.runtime.row(tokenAccount, 'accounts', from, key)
  if (row === undefined) return null
  const balance = parseAsset(row.balance)
  if (balance.amount < amount) return null
  const quantity = formatAsset({ ...balance, amount })
  return world.runtime.action(tokenAccount, 'transfer', [from], { from, to, quantity, memo })
}
