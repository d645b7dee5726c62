import { Chain } from '../../services/devchain/chain/index.ts'
import type { ChainBlock, Position } from '../../services/devchain/chain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'
import { shipNodeOf, startShipServer } from '../../services/devchain/ship/index.ts'
import type { NodeConduct, SessionFaults, ShipServer } from '../../services/devchain/ship/index.ts'
import { benchBlocks } from './blocks.ts'

type ChainSource = Devchain['source']

/** How a mirror node differs from the chain. */
export interface MirrorOptions {
  /** Chain id that the node reports. Default: the id of the chain. */
  readonly chainId?: string
  /** First block of the node. Default: the chain's first block. */
  readonly first?: number
  /** Number of blocks between the head and the last irreversible block. Default 12. */
  readonly libLagBlocks?: number
  /** Returns the frames that the node sends instead of a result. */
  readonly replace?: SessionFaults['replace']
}

/**
 * A second node of the same chain with its own state-history socket. It can be stopped, killed, slowed down, set back,
 * and moved to a branch of its own while it runs.
 */
export class MirrorNode {
  readonly conduct: NodeConduct = { frozen: false, bytesPerSecond: Infinity }
  readonly #source: ChainSource
  readonly #options: MirrorOptions
  readonly #chain: Chain
  readonly #unfollow: () => void
  #server: ShipServer | null = null
  #url: URL | null = null
  /** `apart`: the node extends a branch of its own; `held`: the node accepts no more blocks. */
  #mode: 'following' | 'apart' | 'held' = 'following'
  #common = 0

  /** Copies all blocks of the chain, without listening. The caller must stop the node. */
  constructor({ source }: Devchain, options: MirrorOptions = {}) {
    this.#source = source
    this.#options = options
    this.#chain = new Chain({ libLagBlocks: options.libLagBlocks ?? 12, retainBytes: Infinity })
    this.#catchUp()
    this.#unfollow = source.chain.follow({
      onBlock: () => this.#onBlock(),
      onRewind: (num) => {
        if (this.#mode !== 'following') return
        this.#chain.rewindTo(num - 1)
      },
    })
    this.#chain.follow({
      onBlock: () => this.#server?.pump(),
      onRewind: (num) => this.#server?.rewind(num),
    })
  }

  /** URL of the node's socket; valid after `start`. */
  get url(): string {
    return this.#url === null ? '' : `ws://${this.#url.host}`
  }

  get head(): Position {
    return this.#chain.head
  }

  /** Starts listening. After `kill` it uses the same port again. */
  async start(): Promise<string> {
    const { abiText, chainId } = this.#source
    const { replace } = this.#options
    const identity = { abiText, chainId: this.#options.chainId ?? chainId }
    const port = this.#url === null ? 0 : Number(this.#url.port)
    const node = shipNodeOf(this.#chain, identity, null)
    this.#server = await startShipServer(node, { host: '127.0.0.1', port }, () => ({
      conduct: this.conduct,
      ...(replace === undefined ? {} : { replace }),
    }))
    this.#url = new URL(this.#server.url)
    return this.url
  }

  /** Cuts all connections and stops listening, like a killed process. `start` starts the node again. */
  async kill(): Promise<void> {
    const server = this.#server
    this.#server = null
    await server?.close()
  }

  /** Stops the node, which cannot be started again. */
  async stop(): Promise<void> {
    this.#unfollow()
    await this.kill()
  }

  /** Resumes sending and answering after `conduct.frozen`. */
  thaw(): void {
    this.conduct.frozen = false
    this.#server?.pump()
  }

  /** Drops the last `depth` blocks and accepts no more until `rejoin`, like a node restored from a backup. */
  setBack(depth: number): void {
    this.#mode = 'held'
    this.#chain.rewindTo(Math.max(this.#chain.lib.num, this.#chain.head.num - depth))
  }

  /** Undoes `depth` blocks and continues on a branch of its own, with an empty block for each block of the chain. */
  branchOff(depth: number): void {
    this.#mode = 'apart'
    this.#common = Math.max(this.#chain.lib.num, this.#chain.head.num - depth)
    this.#chain.rewindTo(this.#common)
    while (this.#chain.head.num < this.#source.chain.head.num) this.#appendOwn()
  }

  /**
   * Returns the node to the chain's branch: undoes the blocks of another branch, and adds the missing blocks of the
   * chain.
   */
  rejoin(): void {
    if (this.#mode === 'apart') this.#chain.rewindTo(this.#common)
    this.#mode = 'following'
    this.#catchUp()
  }

  #onBlock(): void {
    if (this.#mode === 'following') this.#catchUp()
    else if (this.#mode === 'apart') this.#appendOwn()
  }

  #catchUp(): void {
    const { chain } = this.#source
    const first = Math.max(chain.first, this.#options.first ?? 1)
    for (let num = Math.max(first, this.#chain.head.num + 1); num <= chain.head.num; num++) {
      this.#chain.append(withoutHeads(chain.at(num)!))
    }
  }

  /** Appends an empty block that no other node has. No producer confirms it, so it never becomes irreversible. */
  #appendOwn(): void {
    const { num, id } = this.#chain.head
    const slot = this.#chain.at(num)!.block!.readUInt32LE(0)
    const [block] = benchBlocks('empty', 1, { num, id, slot })
    const { prevId, block: packed, traces, deltas } = block!
    const seen = { head: { num: num + 1, id: block!.id }, lib: this.#chain.lib }
    this.#chain.append({ num: num + 1, id: block!.id, prevId, block: packed, traces, deltas, seen })
  }
}

/** Copies a block without the head and irreversible block that the recorded node reported: a mirror reports its own. */
function withoutHeads(block: ChainBlock): ChainBlock {
  if (block.seen === undefined) return block
  const { num, id, prevId, block: packed, traces, deltas } = block
  return { num, id, prevId, block: packed, traces, deltas }
}
