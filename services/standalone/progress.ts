import { styleText } from 'node:util'
import { MultiBar, Presets } from 'cli-progress'
import type { SingleBar } from 'cli-progress'
import { TimeLeft } from '../core/progress/index.ts'
import type { ReaderStatus } from '../filler/index.ts'

export interface ProgressOutput {
  readonly out: (text: string) => void
  /** True shows a bar and colours; false prints plain lines. */
  readonly isTerminal: boolean
}

const LINE_INTERVAL_MS = 5_000
/**
 * Maximum number of blocks behind the head for a reader that counts as at the head: blocks arrive between two updates.
 */
const HEAD_BLOCKS = 4

/**
 * Shows steps, problems and the reader's progress: a bar with rate and time left on a terminal, else a line at
 * intervals. Amber means catching up, red means a problem. `print` puts all other output above the bar.
 */
export class Progress {
  readonly #output: ProgressOutput
  readonly #timeLeft = new TimeLeft()
  #bars: MultiBar | null = null
  #bar: SingleBar | null = null
  #lastLineAt = -Infinity
  #lastState = ''
  #lastProblem = ''

  constructor(output: ProgressOutput) {
    this.#output = output
  }

  /** Prints text above the bar; the text ends with a line break. */
  print(text: string): void {
    if (this.#bars) this.#bars.log(text)
    else this.#output.out(text)
  }

  /** Shows the latest status of the reader; called about once a second. */
  update(status: ReaderStatus): void {
    this.#showProblem(status)
    const isTroubled = status.problem !== null && status.state !== 'stopped'
    if (isTroubled) this.#endBar()
    if (status.head === 0 || isTroubled) return
    this.#timeLeft.note(performance.now(), status.block, status.block + status.blocksBehind)
    const isAtHead = status.state === 'live' && status.blocksBehind <= HEAD_BLOCKS
    if (isAtHead || status.state === 'stopped') this.#endBar()
    // The first block may take long, and until then a bar would not move: show the bar only after connecting.
    else if (this.#output.isTerminal && status.state !== 'connecting' && this.#lastState !== 'head')
      return this.#showBar(status)
    this.#showLine(status, isAtHead)
  }

  /** Removes the progress bar and restores the terminal. */
  stop(): void {
    this.#endBar()
  }

  #showProblem(status: ReaderStatus): void {
    const { problem } = status
    const text = problem?.detail ?? ''
    // Each problem is printed once. The summary of a problem identifies it, because the numbers in the detail change
    // every second.
    const kind = problem?.summary ?? ''
    if (kind === this.#lastProblem) return
    if (text !== '') this.print(`${this.#paint('red', `Trouble: ${text}`)}\n`)
    // A reader that stops no longer reports trouble; the caller reports why the reader stopped.
    else if (status.state !== 'stopped') this.print(`${this.#paint('green', 'The trouble is over.')}\n`)
    this.#lastProblem = kind
  }

  #showBar(status: ReaderStatus): void {
    if (!this.#bar) {
      this.#bars = new MultiBar(
        {
          format: this.#paint(
            'yellow',
            '  Catching up {bar} {percentage}% | block {value} of {total} | {speed} blocks/s | {left}',
          ),
          hideCursor: true,
          stopOnComplete: false,
          clearOnComplete: true,
        },
        Presets.shades_classic,
      )
      this.#bar = this.#bars.create(status.head, status.block, { speed: '-', left: '-' })
    }
    this.#bar.setTotal(status.head)
    this.#bar.update(status.block, { speed: rateOf(status), left: this.#describeTimeLeft() })
  }

  #endBar(): void {
    this.#bars?.stop()
    this.#bars = null
    this.#bar = null
  }

  #showLine(status: ReaderStatus, isAtHead: boolean): void {
    const now = performance.now()
    const state = isAtHead ? 'head' : status.state
    // A reader at the head is often a few blocks behind; no line is printed for this.
    if (this.#lastState === 'head' && state === 'live' && status.blocksBehind < 20) return
    const isRepeated = state === 'head' || state === 'connecting' || now - this.#lastLineAt < LINE_INTERVAL_MS
    if (state === this.#lastState && isRepeated) return
    this.#lastState = state
    this.#lastLineAt = now
    const place = `block ${status.block} of ${status.head}`
    if (isAtHead) this.print(`${this.#paint('green', `At the head of the chain: block ${status.block}.`)}\n`)
    else if (state === 'stopped') this.print(`Stopped at ${place}.\n`)
    else if (state === 'connecting') this.print(`Connecting to the chain node.\n`)
    else
      this.print(
        `${this.#paint('yellow', `Catching up: ${place}, ${rateOf(status)} blocks/s, ${this.#describeTimeLeft()}`)}\n`,
      )
  }

  #describeTimeLeft(): string {
    const seconds = this.#timeLeft.seconds
    if (seconds === null) return 'time left unknown'
    if (seconds < 60) return `${Math.ceil(seconds)} s left`
    const minutes = Math.ceil(seconds / 60)
    if (minutes < 120) return `${minutes} min left`
    const hours = Math.round(minutes / 60)
    return hours < 72 ? `${hours} h left` : `${Math.round(hours / 24)} days left`
  }

  #paint(colour: 'red' | 'yellow' | 'green', text: string): string {
    return this.#output.isTerminal ? styleText(colour, text, { validateStream: false }) : text
  }
}

function rateOf({ blocksPerSecond }: ReaderStatus): string {
  return Math.round(blocksPerSecond).toString()
}
