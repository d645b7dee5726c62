import { Chain } from '../../services/devchain/chain/index.ts'
import type { ChainBlock, Position } from '../../services/devchain/chain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'
import { shipNodeOf, startShipServer } from '../../services/devchain/ship/index.ts'
import type { NodeConduct, SessionFaults, ShipServer } from '../../services/devchain/ship/index.ts'
import { benchBlocks } from './blocks.ts'

type ChainSource = Devchain['source']

/** How a node differs from the chain that it mirrors. */
export interface MirrorOptions {
  /** Id that it reports instead of the chain's. */
  readonly chainId?: string
  /** First block that it has. Default: the first of the chain. */
  readonly first?: number
  /** Blocks by which its last irreversible block trails its head. Default 12. */
  readonly libLagBlocks?: number
  /** What it sends instead of a result. */
  readonly replace?: SessionFaults['replace']
}

/**
 * Another node of the same chain, with its own state-history socket, that can be stopped, killed, slowed down, set
 * back and led to its own branch while it runs.
 */
export class MirrorNode {
  readonly conduct: NodeConduct = { frozen: false, bytesPerSecond: Infinity }
  readonly #source: ChainSource
  readonly #options: MirrorOptions
  readonly #chain: Chain
  readonly #unfollow: () => void
  #server: ShipServer | null = null
  #url: URL | null = null
  /** `apart`: on its own branch from this block on; `held`: takes no more blocks. */
  #mode: 'following' | 'apart' | 'held' = 'following'
  #common = 0

  /** Takes all blocks that the chain has; nothing listens yet. The caller has to stop it. */
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

  /** Address of its socket; after `start`. */
  get url(): string {
    return this.#url === null ? '' : `ws://${this.#url.host}`
  }

  get head(): Position {
    return this.#chain.head
  }

  /** Listens; after `kill` on the same port again. */
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

  /** Ends at once, with every connection. */
  async kill(): Promise<void> {
    const server = this.#server
    this.#server = null
    await server?.close()
  }

  /** Ends for good. */
  async stop(): Promise<void> {
    this.#unfollow()
    await this.kill()
  }

  /** Sends and answers again, after `conduct.frozen`. */
  thaw(): void {
    this.conduct.frozen = false
    this.#server?.pump()
  }

  /** Drops its last `depth` blocks and takes no more, as a node that was restored does; `rejoin` ends that. */
  setBack(depth: number): void {
    this.#mode = 'held'
    this.#chain.rewindTo(Math.max(this.#chain.lib.num, this.#chain.head.num - depth))
  }

  /** Undoes `depth` blocks and continues with empty ones of its own, one for each block of the chain. */
  branchOff(depth: number): void {
    this.#mode = 'apart'
    this.#common = Math.max(this.#chain.lib.num, this.#chain.head.num - depth)
    this.#chain.rewindTo(this.#common)
    while (this.#chain.head.num < this.#source.chain.head.num) this.#appendOwn()
  }

  /** Returns to the chain. */
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

  /** An empty block that no other node has; no producer confirms it, so it never becomes irreversible. */
  #appendOwn(): void {
    const { num, id } = this.#chain.head
    const slot = this.#chain.at(num)!.block!.readUInt32LE(0)
    const [block] = benchBlocks('empty', 1, { num, id, slot })
    const { prevId, block: packed, traces, deltas } = block!
    const seen = { head: { num: num + 1, id: block!.id }, lib: this.#chain.lib }
    this.#chain.append({ num: num + 1, id: block!.id, prevId, block: packed, traces, deltas, seen })
  }
}

/** The block without what else the recorded node reported: a mirror has its own head. */
function withoutHeads(block: ChainBlock): ChainBlock {
  if (block.seen === undefined) return block
  const { num, id, prevId, block: packed, traces, deltas } = block
  return { num, id, prevId, block: packed, traces, deltas }
}
