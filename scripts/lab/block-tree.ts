import { Producer } from '../../services/devchain/activity/index.ts'
import type { BlockContent } from '../../services/devchain/activity/index.ts'
import { slotOf } from '../../services/devchain/chain/index.ts'
import type { Chain, ChainBlock } from '../../services/devchain/chain/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { nameValue } from '../../services/devchain/runtime/index.ts'

/** Blocks that a chain had and lost: they follow block `parent` of the main branch. */
export interface LostBranch {
  /** Number of the last block in common with the main branch. */
  readonly parent: number
  readonly blocks: readonly ChainBlock[]
}

/** A chain above its base, with the branches that it lost. */
export interface BlockTree {
  readonly main: readonly ChainBlock[]
  readonly lost: readonly LostBranch[]
}

/** What is to be grown. Numbers of blocks count from the base: 1 is the first block above it. */
export interface TreePlan {
  /** Everything follows from this number. */
  readonly seed: number
  /** Blocks of the main branch. */
  readonly length: number
  /** Actions that users push per block, on average. */
  readonly rate: number
  readonly lost: readonly { readonly parent: number; readonly length: number }[]
  /** Additional content of certain blocks; `branch` is 0 for the main one. */
  readonly content?: (num: number, branch: number) => BlockContent
}

/** Blocks produced after the recordings before every tree, so that there is something to trade. */
const SETTLING_BLOCKS = 40
const SETTLING_RATE = 10

/**
 * Grows many chains from one base: the recordings, and some generated blocks. Branches are created with the blocks that they
 * fork from, so that a fork costs no more than its own blocks.
 */
export class TreeGrower {
  readonly chainId: string
  readonly abiText: string
  /** The blocks that all trees have in common, from block 1. */
  readonly base: readonly ChainBlock[]
  readonly #chain: Chain

  /** Reads the recordings and creates the base. */
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

  /** The packed ABI that an account has after the base; empty when it has none. */
  abiOf(account: string): Buffer {
    this.#chain.rewindTo(this.base.length)
    return this.#chain.state.accounts.get(nameValue(account))?.abi ?? Buffer.alloc(0)
  }

  /**
   * Creates a tree. Equal plans give an equal main branch; the content of lost blocks may depend on what was grown before.
   */
  grow(plan: TreePlan): BlockTree {
    const base = this.base.length
    this.#chain.rewindTo(base)
    const producer = new Producer(this.#chain, { seed: plan.seed, rate: plan.rate })
    const create = (branch: number, count: number): ChainBlock[] =>
      Array.from({ length: count }, () => {
        const head = this.#chain.head.num
        const num = head + 1 - base
        // A lost branch takes other slots, so that even its empty blocks are others.
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
