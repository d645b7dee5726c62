import type {
  BlockPosition,
  ProtocolCodec,
  ResumePosition,
  ShipBlock,
  ShipConsumer,
} from '../../services/filler/ship/types.ts'
import type { ShipSession } from '../../services/filler/index.ts'

/**
 * A consumer that stores block ids and undoes them on forks. Reports blocks as processed (`release`) at once, unless
 * `holds` is set. Like the filler, the consumer sends its last irreversible block as the first of the known positions.
 */
export class Collector implements ShipConsumer {
  readonly blocks: BlockPosition[] = []
  readonly received: ShipBlock[] = []
  /** Number of connections that the session had opened when each block arrived. */
  readonly connections: number[] = []
  readonly protocols: ProtocolCodec[] = []
  readonly forks: number[] = []
  ended = 0
  holds = false
  /** The consumer sends no known positions (`have_positions`) below this block number. */
  irreversibleFloor = 0
  /**
   * Maximum number of known positions (`have_positions`) that a blocks request names. Blocks before the first of them
   * count as irreversible.
   */
  knownBlocks = 400
  session: ShipSession | null = null
  inspect: (block: ShipBlock) => void = () => undefined

  resumePosition(): ResumePosition {
    const havePositions = this.blocks
      .slice(-this.knownBlocks)
      .filter(({ num }) => num >= this.irreversibleFloor)
    return {
      lastApplied: this.blocks.at(-1) ?? null,
      havePositions,
      irreversibleFloor: havePositions[0]?.num ?? 0,
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
