import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { readChainInfo, readRawAbi } from '../../core/chain-node/index.ts'
import { notReady } from '../answers/index.ts'
import type { BlockRef, Position, PositionWatch } from './position.ts'

/** An account's ABI, as the chain node returned it. */
interface Seed {
  readonly packed: Buffer
  readonly digest: string
}

/**
 * Facts that decide whether the chain node's ABI of an account is also the ABI from before the first indexed
 * block.
 */
export interface Standing {
  /** Whether no indexed block has set an ABI of the account. */
  readonly isUntouched: boolean
  /** Whether the two head blocks of the node are on the branch of the reader. */
  readonly isOnBranch: boolean
}

type ReadStanding = (seen: readonly BlockRef[]) => Promise<Standing>

/** Limit of concurrent requests to the chain node. */
const MAX_ASKING = 4
/** Time after which the node is asked again for an account without an ABI, ms. */
const ABSENCE_MS = 60_000
const MAX_BYTES = 32 * 2 ** 20
const WAIT_MS = 3_000
const WAIT_STEP_MS = 100

/**
 * ABIs that were set before the first indexed block. The chain node knows only the present ABI of an account.
 * If no indexed block has set an ABI of the account, the present ABI is also the ABI from before the first
 * indexed block. The node may be ahead of the reader. Its reply therefore counts only once the reader has
 * reached the node's head block on the same branch, and has found no ABI of the account up to there.
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
   * Hash of the account's ABI from before `wholeSince`, the first block of the history without gaps. Null if the account
   * had no ABI, or if an indexed block has set an ABI of the account since: the node then returns the later ABI.
   * @param standing reads the facts about the account and the node's blocks.
   * @throws Refusal 503 if the chain node does not answer, or is on another branch than the reader.
   */
  async digestOf(account: string, position: Position, standing: ReadStanding): Promise<string | null> {
    const known = this.#known.get(keyOf(account, position.wholeSince))
    if (known) return known.digest
    if ((this.#absentUntil.get(account) ?? 0) > Date.now()) return null
    if (!(await standing([])).isUntouched) return null
    const seed = await this.#ask(account, position, standing)
    return seed?.digest ?? null
  }

  /**
   * The cached packed ABI with this hash that is in force from `block` on; undefined if the cache lacks the
   * ABI.
   */
  packed(account: string, block: number, digest: string): Buffer | undefined {
    const seed = this.#known.get(keyOf(account, block))
    return seed?.digest === digest ? seed.packed : undefined
  }

  #ask(account: string, position: Position, standing: ReadStanding): Promise<Seed | null> {
    const running = this.#asking.get(account)
    if (running) return running
    if (this.#asking.size >= MAX_ASKING)
      throw notReady(
        `The server is already requesting ${MAX_ASKING} ABIs from the chain node, the maximum at a time.`,
      )
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
    // The ABI from the node is not usable if an indexed block has set an ABI of the account meanwhile: the node may
    // have returned this new ABI.
    if (!isUntouched) return null
    if (!isOnBranch) throw notReady('The chain node and the reader are on different branches of a fork.')
    if (packed === null) {
      this.#absentUntil.set(account, Date.now() + ABSENCE_MS, { size: 64 })
      return null
    }
    const seed = { packed: Buffer.from(packed), digest: createHash('sha256').update(packed).digest('hex') }
    this.#known.set(keyOf(account, position.wholeSince), seed, { size: packed.length + 100 })
    return seed
  }

  /**
   * Reads the head block before and after the ABI. If both heads are on one branch, the ABI is from that branch and
   * not newer than the second head.
   */
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

/**
 * Cache key of an account's ABI from before `wholeSince`. A new gap changes `wholeSince`, so that older cache entries
 * are not found.
 */
function keyOf(account: string, wholeSince: number): string {
  return `${account} ${wholeSince}`
}
