import type {
  BlockPosition,
  ProtocolCodec,
  ResumePosition,
  ShipBlock,
  ShipConsumer,
} from '../../services/filler/ship/types.ts'
import type { ShipSession } from '../../services/filler/index.ts'

/** A consumer that stores block ids and undoes them on forks. Releases blocks at once, unless `holds` is set. */
export class Collector implements ShipConsumer {
  readonly blocks: BlockPosition[] = []
  readonly received: ShipBlock[] = []
  /** Number of connections that the session had opened when each block arrived. */
  readonly connections: number[] = []
  readonly protocols: ProtocolCodec[] = []
  readonly forks: number[] = []
  ended = 0
  holds = false
  irreversibleFloor = 0
  /** Number of the last blocks that count as reversible; all earlier ones count as irreversible. */
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
