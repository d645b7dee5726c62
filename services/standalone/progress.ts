import { Presets, SingleBar } from 'cli-progress'
import type { ReaderStatus } from '../filler/index.ts'

/** Where progress is shown. */
export interface ProgressOutput {
  readonly out: (text: string) => void
  /** A terminal gets a bar, everything else plain lines. */
  readonly isTerminal: boolean
}

const LINE_INTERVAL_MS = 5_000
const BLOCKS_PER_SECOND_OF_CHAIN = 2

/** Shows how far the reader is: a bar with speed and remaining time, or a line now and then. */
export class Progress {
  private readonly output: ProgressOutput
  private bar: SingleBar | null = null
  private lastLineAt = -Infinity
  private lastState = ''

  constructor(output: ProgressOutput) {
    this.output = output
  }

  /** Takes what the reader last said. */
  update(status: ReaderStatus): void {
    if (status.head === 0) return
    if (status.state === 'live') this.finishBar()
    else if (this.output.isTerminal && status.state === 'catching-up') return this.showBar(status)
    this.showLine(status)
  }

  /** Leaves the terminal as it was. */
  stop(): void {
    this.finishBar()
  }

  private showBar(status: ReaderStatus): void {
    if (!this.bar) {
      this.bar = new SingleBar(
        {
          format: '  {bar} {percentage}% | block {value} of {total} | {speed} blocks/s | {eta_text}',
          hideCursor: true,
          etaBuffer: 10,
        },
        Presets.shades_classic,
      )
      this.bar.start(status.head, status.block, { speed: '-', eta_text: '-' })
    }
    this.bar.setTotal(status.head)
    this.bar.update(status.block, {
      speed: Math.round(status.blocksPerSecond).toString(),
      eta_text: describeEta(status),
    })
  }

  private finishBar(): void {
    this.bar?.stop()
    this.bar = null
  }

  private showLine(status: ReaderStatus): void {
    const now = performance.now()
    const isNews = status.state !== this.lastState
    // At the head there is no news but the head itself.
    if (!isNews && (status.state === 'live' || now - this.lastLineAt < LINE_INTERVAL_MS)) return
    this.lastState = status.state
    this.lastLineAt = now
    const place = `block ${status.block} of ${status.head}`
    const speed = `${Math.round(status.blocksPerSecond)} blocks/s`
    if (status.state === 'live') this.output.out(`At the head of the chain: ${place}.\n`)
    else if (status.state === 'stopped') this.output.out(`Stopped at ${place}.\n`)
    else this.output.out(`${status.state}: ${place}, ${speed}, ${describeEta(status)}\n`)
  }
}

/** Remaining time in words; the chain goes on meanwhile. */
function describeEta(status: Pick<ReaderStatus, 'head' | 'block' | 'blocksPerSecond'>): string {
  const gain = status.blocksPerSecond - BLOCKS_PER_SECOND_OF_CHAIN
  if (gain <= 0) return 'time left unknown'
  const seconds = Math.max(0, status.head - status.block) / gain
  if (seconds < 60) return `${Math.ceil(seconds)} s left`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 120) return `${minutes} min left`
  const hours = Math.round(minutes / 60)
  return hours < 72 ? `${hours} h left` : `${Math.round(hours / 24)} days left`
}
