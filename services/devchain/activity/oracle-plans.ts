import { nameValue } from '../runtime/index.ts'
import { ORACLE_ACCOUNT } from '../contracts/market-rows.ts'
import type { ActionInput } from '../runtime/index.ts'
import { datapointsOf, keysOf } from './market-world.ts'
import type { Plan, World } from './world.ts'

/** Number of accounts that report prices: the first generated accounts. */
const ORACLES = 4

/** A pair for `newbounty`, with a start value for its quotes. */
interface NewPair {
  readonly name: string
  readonly base_symbol: string
  readonly base_contract: string
  readonly quote_symbol: string
  readonly quote_contract: string
  readonly quoted_precision: number
  /** Value near which the first quotes of the pair are, in units of 10^-quoted_precision. */
  readonly firstValue: number
}

/**
 * Pairs that generated transactions add to the recorded pair. `karmausd`: the second token in dollars. `eurwax`: euros
 * in the chain's token; a price in euros is converted by multiplication with the median, not by division.
 */
const newPairs: readonly NewPair[] = [
  {
    name: 'karmausd',
    base_symbol: '4,KARMA',
    base_contract: 'karmatoken',
    quote_symbol: '2,USD',
    quote_contract: '',
    quoted_precision: 5,
    firstValue: 2_900,
  },
  {
    name: 'eurwax',
    base_symbol: '2,EUR',
    base_contract: '',
    quote_symbol: '8,WAX',
    quote_contract: 'eosio.token',
    quoted_precision: 4,
    firstValue: 221_000,
  },
]

/** Plan of a transaction: write one reporter's quotes for all pairs of the oracle, close to its last quotes. */
export const writePrices: Plan = (world) => {
  const { random, directory } = world
  const reporters = directory.people.slice(0, ORACLES)
  const pairs = keysOf(world, ORACLE_ACCOUNT, 'pairs').map((key) => world.runtime.nameOf(key))
  if (reporters.length === 0 || pairs.length === 0) return null
  const wanted = pairs.filter(() => random.chance(0.7))
  const quotes = (wanted.length === 0 ? pairs : wanted).map((pair) => ({
    pair,
    value: nextValue(world, pair),
  }))
  const owner = random.pick(reporters)
  return [world.runtime.action(ORACLE_ACCOUNT, 'write', [owner], { owner, quotes })]
}

/** Actions that propose and approve the first pair of `newPairs` that the oracle lacks; null if it has all. */
export function missingPair(world: World): ActionInput[] | null {
  const { runtime, directory } = world
  if (keysOf(world, ORACLE_ACCOUNT, 'pairs').length === 0 || directory.people.length === 0) return null
  const known = (name: string): boolean =>
    runtime.row(ORACLE_ACCOUNT, 'pairs', ORACLE_ACCOUNT, nameValue(name)) !== undefined
  const missing = newPairs.find(({ name }) => !known(name))
  if (missing === undefined) return null
  const [proposer, custodian] = [directory.people[0]!, directory.people.at(-1)!]
  const { firstValue: _, ...pair } = missing
  const data = { proposer, pair: { ...pair, base_type: 4, quote_type: 1 } }
  const vote = { owner: custodian, bounty: missing.name }
  return [
    runtime.action(ORACLE_ACCOUNT, 'newbounty', [proposer], data),
    runtime.action(ORACLE_ACCOUNT, 'votebounty', [custodian], vote),
  ]
}

/** A random value within two percent of the pair's latest value. */
function nextValue(world: World, pair: string): bigint {
  const rows = datapointsOf(world, pair)
  const newest = rows.reduce((found, row) => (row.timestamp > found.timestamp ? row : found), rows[0]!)
  const first = newPairs.find(({ name }) => name === pair)?.firstValue ?? 500
  const value = newest.value === 0n ? first : Number(newest.value)
  return BigInt(Math.max(1, Math.round(value * (0.98 + world.random.fraction() * 0.04))))
}
