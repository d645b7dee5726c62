import { Random, setAbiAction } from '../../services/devchain/index.ts'
import type { ActionInput, BlockContent } from '../../services/devchain/index.ts'
import type { TreePlan } from '../lab/index.ts'
import { brokenAbis } from './abis.ts'
import type { BrokenAbi } from './abis.ts'

/** Seeds that share a chain, so that it is made and indexed straight once for all of them. */
const SEEDS_OF_CHAIN = 25

/** Of so many chains one has a block of a million traces. */
const MILLION_EVERY = 100

/** The contracts whose ABIs change. */
export const contractAccounts = ['atomicassets', 'atomicmarket', 'delphioracle', 'atomictoolsx'] as const

export type ContractAccount = (typeof contractAccounts)[number]

/** Number of the chain of a seed. */
export function chainOf(seed: number): number {
  return Math.ceil(seed / SEEDS_OF_CHAIN)
}

/** A block in which the ABI of a contract changes, and for how long. */
export interface AbiFault {
  readonly account: ContractAccount
  readonly num: number
  readonly kind: BrokenAbi
  /** Blocks until the right one comes back; 0 for within the same block. */
  readonly blocks: number
}

/** A chain, as it follows from its number. */
export interface ChainPlan {
  readonly tree: TreePlan
  readonly abiFaults: readonly AbiFault[]
  /** A block with very many traces, all valid: its number, and how many; null for none. */
  readonly wide: { readonly num: number; readonly traces: number } | null
  /** A block with far more actions than usual; null for none. */
  readonly busy: number | null
  /** The first block that may deploy the second version of the market; null for none. */
  readonly marketUpgrade: number | null
}

/** Blocks by which lost branches deploy the second version of the market later than the main branch, at most. */
const MARKET_UPGRADE_SPREAD = 3

/** Draws a chain: its branches, its ABIs, its large blocks. `abis` are the packed ABIs of the contracts. */
export function drawChain(chain: number, abis: Readonly<Record<ContractAccount, Buffer>>): ChainPlan {
  const random = new Random(`chain ${chain}`)
  const length = random.chance(0.15) ? random.between(33, 150) : random.between(12, 32)
  const lost = Array.from({ length: random.between(4, 8) }, () => ({
    parent: random.between(1, length - 2),
    length: random.between(1, random.between(1, 14)),
  }))
  const marketUpgrade = random.chance(0.4) ? random.between(2, length - 2) : null
  // An ABI that comes back would be older than an upgraded contract.
  const changing = contractAccounts.filter((account) => marketUpgrade === null || account !== 'atomicmarket')
  const abiFaults: AbiFault[] = Array.from({ length: random.chance(0.5) ? random.between(1, 2) : 0 }, () => ({
    account: random.pick(changing),
    num: random.between(2, length - 4),
    kind: random.pick(Object.keys(brokenAbis) as BrokenAbi[]),
    blocks: random.chance(0.5) ? 0 : random.between(1, 3),
  }))
  const busy = random.chance(0.1) ? random.between(2, length - 2) : null
  const wide = drawWide(random, chain, length)
  const content = (num: number, branch: number): BlockContent => ({
    ...(num === busy ? { rate: 60 } : {}),
    ...(num === wide?.num && branch === 0 ? { expiredTraces: wide.traces } : {}),
    ...(marketUpgrade !== null && num === marketUpgrade + (branch % MARKET_UPGRADE_SPREAD)
      ? { deploysSecondMarket: true }
      : {}),
    // A lost branch has the changes of the main one, and its end may come between two of them.
    transactions: abiFaults.flatMap((fault, i) => abiChanges(fault, num, abis[fault.account], branch + i)),
  })
  // The final chain is the longest branch: a reader waits for a node that has fewer blocks than it read.
  const highest = Math.max(...lost.map((branch) => branch.parent + branch.length))
  const tree = {
    seed: chain,
    length: Math.max(length, highest + 1),
    rate: random.between(1, 5),
    lost,
    content,
  }
  return { tree, abiFaults, wide, busy, marketUpgrade }
}

function drawWide(random: Random, chain: number, length: number): ChainPlan['wide'] {
  const num = random.between(2, length - 2)
  if (chain % MILLION_EVERY === 0) return { num, traces: 1_000_000 }
  return random.chance(0.1) ? { num, traces: random.between(1, 20_000) } : null
}

function abiChanges(fault: AbiFault, num: number, abi: Buffer, variant: number): ActionInput[][] {
  const set = (packed: Uint8Array): ActionInput[] => [setAbiAction(fault.account, packed)]
  const changes: ActionInput[][] = []
  if (num === fault.num) changes.push(set(brokenAbis[fault.kind](abi, variant)))
  if (num === fault.num + fault.blocks) changes.push(set(abi))
  return changes
}
