import { Producer } from '../../services/devchain/activity/index.ts'
import type { BlockContent } from '../../services/devchain/activity/index.ts'
import { slotOf } from '../../services/devchain/chain/index.ts'
import type { Chain, ChainBlock } from '../../services/devchain/chain/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { nameValue } from '../../services/devchain/runtime/index.ts'

/** A branch that a chain had and lost to a fork. */
export interface LostBranch {
  /** Number of the branch's parent block on the main branch. */
  readonly parent: number
  readonly blocks: readonly ChainBlock[]
}

/** The blocks above the base: the main branch and the lost branches. */
export interface BlockTree {
  readonly main: readonly ChainBlock[]
  readonly lost: readonly LostBranch[]
}

/** Properties of a tree. Block numbers count from the base: 1 is the first block above it. */
export interface TreePlan {
  /** Seed of the generated content. */
  readonly seed: number
  /** Number of blocks on the main branch. */
  readonly length: number
  /** Average number of user actions per block. */
  readonly rate: number
  readonly lost: readonly { readonly parent: number; readonly length: number }[]
  /** Additional content of a block; `branch` is 0 for the main branch. */
  readonly content?: (num: number, branch: number) => BlockContent
}

/**
 * Number of generated blocks between the recordings and every tree. These blocks create assets, which the blocks of a
 * tree trade.
 */
const SETTLING_BLOCKS = 40
const SETTLING_RATE = 10

/**
 * Generates many block trees above one base: the recordings and some generated blocks. A losing branch is generated
 * while its parent block is the head of the chain. Therefore no block of the main branch is generated twice.
 */
export class TreeGrower {
  readonly chainId: string
  readonly abiText: string
  /** Blocks that all trees share, from block 1. */
  readonly base: readonly ChainBlock[]
  readonly #chain: Chain

  /** Creates the base: the blocks of the recordings, then `SETTLING_BLOCKS` generated blocks. */
  constructor() {
    const { source } = createDevchain({
      ...{ blocks: SETTLING_BLOCKS, rate: SETTLING_RATE },
      ...{ libLagBlocks: Infinity, retainBytes: Infinity },
    })
    this.chainId = source.chainId
    this.abiText = source.abiText
    this.#chain = source.chain
    this.base = Array.from({ length: this.#chain.head.num }, (_, i) => this.#chain.at(i + 1)!)
  }

  /** Packed ABI of an account at the end of the base; empty if it has none. */
  abiOf(account: string): Buffer {
    this.#chain.rewindTo(this.base.length)
    return this.#chain.state.accounts.get(nameValue(account))?.abi ?? Buffer.alloc(0)
  }

  /** Generates a tree. Equal plans give an equal main branch; lost blocks may depend on earlier trees. */
  grow(plan: TreePlan): BlockTree {
    const base = this.base.length
    this.#chain.rewindTo(base)
    const producer = new Producer(this.#chain, { seed: plan.seed, rate: plan.rate })
    const create = (branch: number, count: number): ChainBlock[] =>
      Array.from({ length: count }, () => {
        const head = this.#chain.head.num
        const num = head + 1 - base
        // Lost branches use other time slots, so that even their empty blocks differ from the main branch.
        const slot = slotOf(this.#chain.at(head)!) + (branch === 0 ? 1 : 2)
        return producer.produce(slot, branch, plan.content?.(num, branch))
      })
    const main: ChainBlock[] = []
    const lost: LostBranch[] = []
    for (let height = 0; height <= plan.length; height++) {
      plan.lost.forEach(({ parent, length }, i) => {
        if (parent !== height) return
        lost.push({ parent: base + parent, blocks: create(i + 1, length) })
        this.#chain.rewindTo(base + parent)
      })
      if (height < plan.length) main.push(...create(0, 1))
    }
    return { main, lost }
  }
}
