import type {
  BlockPosition,
  ProtocolCodec,
  ResumePosition,
  ShipBlock,
  ShipConsumer,
} from '../../services/filler/ship/types.ts'
import type { ShipSession } from '../../services/filler/index.ts'

/** A pipeline that keeps block ids, undoes on forks, and releases at once unless it has to hold. */
export class Collector implements ShipConsumer {
  readonly blocks: BlockPosition[] = []
  readonly received: ShipBlock[] = []
  /** Number of connections that the session had opened when each block came. */
  readonly connections: number[] = []
  readonly protocols: ProtocolCodec[] = []
  readonly forks: number[] = []
  ended = 0
  holds = false
  irreversibleFloor = 0
  /** How many of the last blocks are offered as reversible; the rest is regarded as final history. */
  reversible = 400
  session: ShipSession | null = null
  inspect: (block: ShipBlock) => void = () => undefined

  resumePosition(): ResumePosition {
    const havePositions = this.blocks
      .slice(-this.reversible)
      .filter(({ num }) => num > this.irreversibleFloor)
    return {
      lastApplied: this.blocks.at(-1) ?? null,
      havePositions,
      irreversibleFloor: this.irreversibleFloor,
    }
  }

  onProtocol(protocol: ProtocolCodec): void {
    this.protocols.push(protocol)
  }

  onBlock(block: ShipBlock): void {
    this.blocks.push({ num: block.num, id: block.id })
    this.received.push(block)
    this.connections.push(this.session?.status().connections ?? 0)
    this.inspect(block)
    if (!this.holds) this.session?.release(1, block.bytes)
  }

  onFork(from: number): void {
    this.forks.push(from)
    while ((this.blocks.at(-1)?.num ?? 0) >= from) this.blocks.pop()
  }

  onEnd(): void {
    this.ended += 1
  }

  get nums(): number[] {
    return this.blocks.map(({ num }) => num)
  }
}
