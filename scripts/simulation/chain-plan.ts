import { Random, setAbiAction } from '../../services/devchain/index.ts'
import type { ActionInput, BlockContent } from '../../services/devchain/index.ts'
import type { TreePlan } from '../lab/index.ts'
import { brokenAbis } from './abis.ts'
import type { BrokenAbi } from './abis.ts'

/**
 * Every SEEDS_OF_CHAIN consecutive seeds share a chain, so that the chain is generated and indexed without faults only
 * once.
 */
const SEEDS_OF_CHAIN = 25

/** One chain in this many has a block with a million traces. */
const MILLION_EVERY = 100

/** Contracts whose ABIs change during a simulation. */
export const contractAccounts = ['atomicassets', 'atomicmarket', 'delphioracle', 'atomictoolsx'] as const

export type ContractAccount = (typeof contractAccounts)[number]

/** Number that identifies the chain of a seed; consecutive seeds share a chain. */
export function chainOf(seed: number): number {
  return Math.ceil(seed / SEEDS_OF_CHAIN)
}

/** A block in which a contract's ABI changes, and the number of blocks until it is restored. */
export interface AbiFault {
  readonly account: ContractAccount
  readonly num: number
  readonly kind: BrokenAbi
  /** Number of blocks until the contract's real ABI is restored; 0 means within the same block. */
  readonly blocks: number
}

/** Properties of a chain; derived from its number. */
export interface ChainPlan {
  readonly tree: TreePlan
  readonly abiFaults: readonly AbiFault[]
  /** Block with very many valid traces, and their number; null if there is none. */
  readonly wide: { readonly num: number; readonly traces: number } | null
  /** Block with far more actions than usual; null if there is none. */
  readonly busy: number | null
  /** First block that may deploy the second version of the market; null if there is none. */
  readonly marketUpgrade: number | null
}

/** Lost branches deploy the second version of the market later than the main branch, by fewer than this many blocks. */
const MARKET_UPGRADE_SPREAD = 3

/**
 * Draws a chain: its branches, ABI changes and large blocks.
 * @param abis packed ABIs of the contracts.
 */
export function drawChain(chain: number, abis: Readonly<Record<ContractAccount, Buffer>>): ChainPlan {
  const random = new Random(`chain ${chain}`)
  const length = random.chance(0.15) ? random.between(33, 150) : random.between(12, 32)
  const lost = Array.from({ length: random.between(4, 8) }, () => ({
    parent: random.between(1, length - 2),
    length: random.between(1, random.between(1, 14)),
  }))
  const marketUpgrade = random.chance(0.4) ? random.between(2, length - 2) : null
  // An upgraded market gets no broken ABI: the ABI that is restored afterwards would be older than the contract.
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
    // Lost branches contain the same ABI changes as the main branch; a branch may end between a change and its
    // restoration.
    transactions: abiFaults.flatMap((fault, i) => abiChanges(fault, num, abis[fault.account], branch + i)),
  })
  // The main branch is longer than every lost branch: a reader waits while its node has fewer blocks than the
  // reader.
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
