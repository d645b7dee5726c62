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

/** What the nodes of one chain have in common. */
export interface NodeSource {
  readonly base: readonly ChainBlock[]
  readonly tree: BlockTree
  readonly abiText: string
  readonly chainId: string
  readonly libLagBlocks: number
}

/** How the next sessions of a node behave, one entry for each. */
export type NextSession = (conduct: NodeConduct) => SessionFaults

/** A node that is led along the branches of a tree. Heights count from the base. */
export class SimulatedNode implements ShipNode {
  readonly abiText: string
  readonly #source: NodeSource
  #server: ShipServer | null = null
  /** Blocks above the base that it has, and those of its branch that it has not got yet. */
  #path: readonly ChainBlock[]
  #keepsLast = false
  #height: number
  /** Index of the lost branch that it is on; null on the main branch. */
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

  /** Listens; returns its address. */
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

  /** Gets up to `count` blocks of its branch. */
  grow(count: number): void {
    const kept = this.#branch === null && this.#keepsLast ? 1 : 0
    const most = Math.min(this.#path.length - kept, this.#height + count)
    while (this.#height < most) {
      this.#height++
      this.#raiseLib()
      this.#server?.pump()
    }
  }

  /** Gets the last block of the main branch only when `addLast` says so. */
  keepLast(): void {
    this.#keepsLast = true
  }

  /** Adds the last block of the main branch. */
  addLast(): void {
    this.#keepsLast = false
    this.grow(1)
  }

  /** Loses what follows the parent of a lost branch, and gets `count` blocks of that. */
  forkTo(branch: number, count: number): void {
    const { base, tree } = this.#source
    const { parent, blocks } = tree.lost[branch]!
    this.#rewind(parent - base.length)
    this.#branch = branch
    this.#path = [...tree.main.slice(0, parent - base.length), ...blocks]
    // What it takes for irreversible is never of a branch that is lost.
    this.#lib = Math.min(this.#lib, parent)
    this.grow(count)
  }

  /** Comes back to the main branch, and gets its blocks up to `height`. */
  forkBack(height: number): void {
    if (this.#branch !== null)
      this.#rewind(this.#source.tree.lost[this.#branch]!.parent - this.#source.base.length)
    this.#branch = null
    this.#path = this.#source.tree.main
    this.grow(height - this.#height)
  }

  /** Loses its last `count` blocks, as a node that was restored does; never those that are irreversible. */
  setBack(count: number): void {
    this.#rewind(Math.max(this.#lib - this.#source.base.length, this.#height - count, 0))
  }

  /** What the next sessions do. */
  faultNext(...sessions: readonly NextSession[]): void {
    this.#next.push(...sessions)
  }

  /** No faults for sessions to come. */
  clearFaults(): void {
    this.#next.length = 0
  }

  dropSessions(): void {
    this.#server?.dropSessions()
    this.#conducts = []
  }

  /** Sends nothing and answers nothing; connections stay open. */
  freeze(): void {
    for (const conduct of this.#conducts) conduct.frozen = true
  }

  /** Sends and answers again, as fast as it can. */
  thaw(): void {
    for (const conduct of this.#conducts) {
      conduct.frozen = false
      conduct.bytesPerSecond = Infinity
    }
    this.#server?.pump()
  }

  /** Lets every session send what it may. */
  pump(): void {
    this.#server?.pump()
  }

  /** Everything that it has becomes irreversible; new sessions receive it. */
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
