import { startShipServer } from '../../services/devchain/index.ts'
import type {
  ChainBlock,
  NodeConduct,
  Position,
  SessionFaults,
  ShipNode,
  ShipServer,
} from '../../services/devchain/index.ts'
import type { BlockTree } from '../lab/index.ts'

/** Data that the nodes of a chain share. */
export interface NodeSource {
  readonly base: readonly ChainBlock[]
  readonly tree: BlockTree
  readonly abiText: string
  readonly chainId: string
  readonly libLagBlocks: number
}

/** Defines how one future session of a node behaves. */
export type NextSession = (conduct: NodeConduct) => SessionFaults

/**
 * A simulated chain node that can be moved along the branches of a block tree. Heights count from the last base block.
 */
export class SimulatedNode implements ShipNode {
  readonly abiText: string
  readonly #source: NodeSource
  #server: ShipServer | null = null
  /**
   * Blocks of the node's current branch above the base. The node has the blocks up to `#height`; the later
   * blocks do not exist yet.
   */
  #path: readonly ChainBlock[]
  #keepsLast = false
  #height: number
  /** Index of the lost branch that the node is on; null on the main branch. */
  #branch: number | null = null
  #lib: number
  #conducts: NodeConduct[] = []
  readonly #next: NextSession[] = []

  constructor(source: NodeSource, height: number) {
    this.#source = source
    this.abiText = source.abiText
    this.#path = source.tree.main
    this.#height = height
    this.#lib = source.base.length
    this.#raiseLib()
  }

  /**
   * Starts listening.
   * @returns the node's URL.
   */
  async start(): Promise<string> {
    this.#server = await startShipServer(this, { host: '127.0.0.1', port: 0 }, () => {
      const conduct = { frozen: false, bytesPerSecond: Infinity }
      this.#conducts.push(conduct)
      return { conduct, ...this.#next.shift()?.(conduct) }
    })
    return this.#server.url
  }

  async stop(): Promise<void> {
    await this.#server?.close()
  }

  get height(): number {
    return this.#height
  }

  get isOnMain(): boolean {
    return this.#branch === null
  }

  head(): Position {
    return this.at(this.#source.base.length + this.#height)!
  }

  lib(): Position {
    return this.at(this.#lib)!
  }

  first(): number {
    return 1
  }

  at(num: number): ChainBlock | undefined {
    const { base } = this.#source
    const height = num - base.length
    return height > this.#height ? undefined : height > 0 ? this.#path[height - 1] : base[num - 1]
  }

  status() {
    const { num } = this.head()
    const { chainId } = this.#source
    return { head: this.head(), lib: this.lib(), begin: 1, end: num + 1, traceBegin: 2, chainId }
  }

  advance(): boolean {
    return false
  }

  /** Adds up to `count` blocks of the current branch. */
  grow(count: number): void {
    const kept = this.#branch === null && this.#keepsLast ? 1 : 0
    const most = Math.min(this.#path.length - kept, this.#height + count)
    while (this.#height < most) {
      this.#height++
      this.#raiseLib()
      this.#server?.pump()
    }
  }

  /** Withholds the last block of the main branch until `addLast`. */
  keepLast(): void {
    this.#keepsLast = true
  }

  /** Adds the last block of the main branch. */
  addLast(): void {
    this.#keepsLast = false
    this.grow(1)
  }

  /** Switches to a lost branch: undoes the blocks after the branch's parent, and adds `count` blocks of the branch. */
  forkTo(branch: number, count: number): void {
    const { base, tree } = this.#source
    const { parent, blocks } = tree.lost[branch]!
    this.#rewind(parent - base.length)
    this.#branch = branch
    this.#path = [...tree.main.slice(0, parent - base.length), ...blocks]
    // Blocks of a lost branch never count as irreversible.
    this.#lib = Math.min(this.#lib, parent)
    this.grow(count)
  }

  /** Switches back to the main branch and adds its blocks up to `height`. */
  forkBack(height: number): void {
    if (this.#branch !== null)
      this.#rewind(this.#source.tree.lost[this.#branch]!.parent - this.#source.base.length)
    this.#branch = null
    this.#path = this.#source.tree.main
    this.grow(height - this.#height)
  }

  /** Drops the last `count` blocks, except irreversible blocks, like a node restored from a backup. */
  setBack(count: number): void {
    this.#rewind(Math.max(this.#lib - this.#source.base.length, this.#height - count, 0))
  }

  /** Sets the behaviour of the next sessions. */
  faultNext(...sessions: readonly NextSession[]): void {
    this.#next.push(...sessions)
  }

  /** Removes the faults of future sessions. */
  clearFaults(): void {
    this.#next.length = 0
  }

  dropSessions(): void {
    this.#server?.dropSessions()
    this.#conducts = []
  }

  /** Stops sending and replying; connections stay open. */
  freeze(): void {
    for (const conduct of this.#conducts) conduct.frozen = true
  }

  /** Ends the freeze of all sessions, and lifts their limit of bytes per second. */
  thaw(): void {
    for (const conduct of this.#conducts) {
      conduct.frozen = false
      conduct.bytesPerSecond = Infinity
    }
    this.#server?.pump()
  }

  /** Makes every session send the blocks for which its client has credits. */
  pump(): void {
    this.#server?.pump()
  }

  /** Makes the head irreversible, and sends the new irreversible block to all sessions. */
  finalize(): void {
    this.#lib = this.head().num
    this.#server?.pump()
  }

  #rewind(height: number): void {
    if (height >= this.#height) return
    this.#height = height
    this.#server?.rewind(this.#source.base.length + height + 1)
  }

  #raiseLib(): void {
    const { base, tree, libLagBlocks } = this.#source
    const ancestor = this.#branch === null ? Infinity : tree.lost[this.#branch]!.parent
    this.#lib = Math.max(this.#lib, Math.min(base.length + this.#height - libLagBlocks, ancestor))
  }
}
