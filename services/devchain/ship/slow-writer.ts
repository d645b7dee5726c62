import type { WebSocket } from 'ws'
import type { NodeConduct } from './faults.ts'

/** Interval in which a part of the queue is sent, ms. */
const EVERY_MS = 20
/** Above this many queued bytes no further message is accepted. */
const MOST_WAITING = 2 * 2 ** 20

/** Sends messages in chunks, at most `NodeConduct.bytesPerSecond` bytes a second: simulates a slow node. */
export class SlowWriter {
  readonly #client: WebSocket
  readonly #conduct: NodeConduct
  readonly #onRoom: () => void
  #waiting: Buffer[] = []
  #offset = 0
  #bytes = 0
  #allowance = 0
  #refilledAt = 0
  #timer: NodeJS.Timeout | undefined

  /** @param onRoom called every EVERY_MS, because the queue may then have room for another message. */
  constructor(client: WebSocket, conduct: NodeConduct, onRoom: () => void) {
    this.#client = client
    this.#conduct = conduct
    this.#onRoom = onRoom
    client.on('close', () => clearInterval(this.#timer))
  }

  /** Whether messages must pass this queue: the byte rate is limited, or messages are waiting. */
  get isSlow(): boolean {
    return this.#conduct.bytesPerSecond !== Infinity || this.#waiting.length > 0
  }

  /** Whether the queue is full. */
  get isFull(): boolean {
    return this.#bytes >= MOST_WAITING
  }

  write(frame: Buffer): void {
    this.#waiting.push(frame)
    this.#bytes += frame.length
    if (this.#timer === undefined) {
      this.#refilledAt = performance.now()
      this.#timer = setInterval(() => this.#turn(), EVERY_MS)
    }
    this.#send()
  }

  #turn(): void {
    const now = performance.now()
    const { bytesPerSecond, frozen } = this.#conduct
    const gained = ((now - this.#refilledAt) * bytesPerSecond) / 1_000
    this.#refilledAt = now
    if (frozen) return
    // A session may save unused bandwidth: at most the bytes of 100 ms.
    this.#allowance = Math.min(this.#allowance + gained, bytesPerSecond / 10)
    this.#send()
    this.#onRoom()
    if (this.#waiting.length === 0 && bytesPerSecond === Infinity) this.#stop()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#allowance = 0
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#allowance >= 1) {
      const frame = this.#waiting[0]!
      const end = Math.min(frame.length, this.#offset + Math.floor(Math.min(this.#allowance, 2 ** 20)))
      this.#client.send(frame.subarray(this.#offset, end), { binary: true, fin: end === frame.length })
      this.#allowance -= end - this.#offset
      this.#offset = end
      if (end < frame.length) continue
      this.#waiting.shift()
      this.#bytes -= frame.length
      this.#offset = 0
    }
  }
}
