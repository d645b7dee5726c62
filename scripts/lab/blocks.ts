import type { ActivityMix } from '../../services/devchain/activity/index.ts'
import { packHeader } from '../../services/devchain/activity/index.ts'
import type { ChainBlock, Position } from '../../services/devchain/chain/index.ts'
import { emptyTemplate, foreignTemplate } from './template.ts'
import type { BlockTemplate } from './template.ts'

/** Kinds of benchmark blocks that are cheap to create. */
export type BenchKind = 'foreign' | 'empty'

/** The block before the first benchmark block. */
export interface BenchStart extends Position {
  /** Time slot of the block (half-seconds since 2000). */
  readonly slot: number
}

/**
 * Frequencies of transactions in a dense block: mostly mints, transfers and edits, mixed with payments, like the busy
 * parts of a chain.
 */
export const denseMix: ActivityMix = {
  mint: 21,
  transfer: 30,
  editAsset: 18,
  tokenTransfer: 25,
  createOffer: 2,
  acceptOffer: 2,
  burn: 0.5,
}

/** Like `denseMix`, with a busy market: one action in ten announces or buys a sale. */
export const denseMarketMix: ActivityMix = {
  mint: 30,
  transfer: 30,
  editAsset: 15,
  tokenTransfer: 15,
  announceSale: 5,
  purchaseSale: 5,
  writePrices: 0.2,
}

/** Average number of user actions in a dense block, which then has about a megabyte. */
export const DENSE_RATE = 900

/**
 * Creates `count` consecutive blocks with shared traces and deltas. Only the header differs between blocks, and is
 * built on each read. `foreign`: 378 transfers of a foreign token (1,134 action traces, results of about 300 kB).
 * `empty`: results of about 860 bytes.
 */
export function* benchBlocks(kind: BenchKind, count: number, after: BenchStart): Generator<ChainBlock> {
  const template = kind === 'foreign' ? foreignTemplate() : emptyTemplate()
  let previous = after.id
  for (let made = 1; made <= count; made++) {
    const { id, header } = packHeader({
      num: after.num + made,
      slot: after.slot + made,
      previousId: previous,
      transactionRoot: template.transactionRoot,
      actionRoot: template.actionRoot,
    })
    yield new BenchBlock({ num: after.num + made, id }, previous, header, template)
    previous = id
  }
}

/** A block whose `signed_block` is built on each read, so that a million blocks fit into memory. */
class BenchBlock implements ChainBlock {
  readonly num: number
  readonly id: Buffer
  readonly prevId: Buffer
  readonly heldBytes = 512
  readonly #header: Buffer
  readonly #template: BlockTemplate

  constructor(position: Position, prevId: Buffer, header: Buffer, template: BlockTemplate) {
    this.num = position.num
    this.id = position.id
    this.prevId = prevId
    this.#header = header
    this.#template = template
  }

  get block(): Buffer {
    return Buffer.concat([this.#header, this.#template.transactions])
  }

  get traces(): Buffer {
    return this.#template.traces
  }

  get deltas(): Buffer {
    return this.#template.deltas
  }
}
