import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { readChainInfo, readRawAbi } from '../../core/chain-node/index.ts'
import { notReady } from '../answers/index.ts'
import type { BlockRef, Position, PositionWatch } from './position.ts'

/** What the chain node said of an account. */
interface Seed {
  readonly packed: Buffer
  readonly digest: string
}

/** How an account and blocks of the chain node stand to what is indexed, at one moment. */
export interface Standing {
  /** No block has set an ABI of the account. */
  readonly isUntouched: boolean
  /** The blocks are on the branch of the reader. */
  readonly isOnBranch: boolean
}

type ReadStanding = (seen: readonly BlockRef[]) => Promise<Standing>

/** Requests to the chain node at the same time. */
const MAX_ASKING = 4
/** An account without an ABI is requested again after this long. */
const ABSENCE_MS = 60_000
const MAX_BYTES = 32 * 2 ** 20
const WAIT_MS = 3_000
const WAIT_STEP_MS = 100

/**
 * ABIs that were set before the first indexed block. The chain node knows the present ABI only; as long as no indexed
 * block has set another, that is the one from before. The node is slightly ahead of the reader, so what it says
 * counts once the reader has reached the block at which it was said, on the same branch, and found no other ABI up to there.
 */
export class AbiSeeds {
  readonly #nodeUrl: string
  readonly #positions: PositionWatch
  readonly #known = new LRUCache<string, Seed>({ maxSize: MAX_BYTES })
  readonly #absentUntil = new LRUCache<string, number>({ maxSize: 2 ** 20 })
  readonly #asking = new Map<string, Promise<Seed | null>>()

  constructor(nodeUrl: string, positions: PositionWatch) {
    this.#nodeUrl = nodeUrl
    this.#positions = positions
  }

  /**
   * The content of an account's ABI from before the first block from which on every block was indexed; null when there is
   * none or it is unknown any more. @param standing reads how the account and blocks of the chain node stand to what is indexed.
   * @throws Refusal 503 when the chain node does not answer, or not about the branch of the reader.
   */
  async digestOf(account: string, position: Position, standing: ReadStanding): Promise<string | null> {
    const known = this.#known.get(keyOf(account, position.wholeSince))
    if (known) return known.digest
    if ((this.#absentUntil.get(account) ?? 0) > Date.now()) return null
    if (!(await standing([])).isUntouched) return null
    const seed = await this.#ask(account, position, standing)
    return seed?.digest ?? null
  }

  /** The packed ABI with this content, which is in force from a block on. */
  packed(account: string, block: number, digest: string): Buffer | undefined {
    const seed = this.#known.get(keyOf(account, block))
    return seed?.digest === digest ? seed.packed : undefined
  }

  #ask(account: string, position: Position, standing: ReadStanding): Promise<Seed | null> {
    const running = this.#asking.get(account)
    if (running) return running
    if (this.#asking.size >= MAX_ASKING) throw notReady('The chain node is being asked for other ABIs.')
    const asked = this.#askOnce(account, position, standing).finally(() => {
      this.#asking.delete(account)
    })
    this.#asking.set(account, asked)
    return asked
  }

  async #askOnce(account: string, position: Position, standing: ReadStanding): Promise<Seed | null> {
    const { packed, before, after } = await this.#readNode(account)
    await this.#untilReached(after.num, position)
    const { isUntouched, isOnBranch } = await standing([before, after])
    // One that was set meanwhile may be the one that the node returned.
    if (!isUntouched) return null
    if (!isOnBranch) throw notReady('The chain node is on another branch than the reader.')
    if (packed === null) {
      this.#absentUntil.set(account, Date.now() + ABSENCE_MS, { size: 64 })
      return null
    }
    const seed = { packed: Buffer.from(packed), digest: createHash('sha256').update(packed).digest('hex') }
    this.#known.set(keyOf(account, position.wholeSince), seed, { size: packed.length + 100 })
    return seed
  }

  /** An ABI between two heads: it is older than the second, and on their branch. */
  async #readNode(
    account: string,
  ): Promise<{ packed: Uint8Array | null; before: BlockRef; after: BlockRef }> {
    try {
      const before = await this.#readHead()
      const packed = await readRawAbi(this.#nodeUrl, account)
      return { packed, before, after: await this.#readHead() }
    } catch {
      throw notReady('The ABI was set before the first indexed block, and the chain node does not answer.')
    }
  }

  async #readHead(): Promise<BlockRef> {
    const { headBlock, headId } = await readChainInfo(this.#nodeUrl)
    return { num: headBlock, id: headId }
  }

  async #untilReached(block: number, position: Position): Promise<void> {
    let { num } = position.head
    for (let waited = 0; num < block; waited += WAIT_STEP_MS) {
      if (waited >= WAIT_MS) throw notReady(`The reader is at block ${num} and the chain node at ${block}.`)
      await sleep(WAIT_STEP_MS)
      num = (await this.#positions.get()).head.num
    }
  }
}

/** An ABI that was asked for before blocks were left out need not be the one after them. */
function keyOf(account: string, wholeSince: number): string {
  return `${account} ${wholeSince}`
}
