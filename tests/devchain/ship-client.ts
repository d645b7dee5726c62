import { once } from 'node:events'
import { WebSocket } from 'ws'

/** A blocks result. The client parses it without the code under test. */
export interface Result {
  readonly frame: Buffer
  readonly head: number
  readonly lib: number
  readonly num: number | null
  readonly id: string | null
  readonly prevId: string | null
  readonly block: Buffer | null
  readonly traces: Buffer | null
  readonly deltas: Buffer | null
}

/** Fields of a blocks request. Defaults: all blocks from block 1 on, all payloads, many credits. */
export interface BlocksQuery {
  readonly start?: number
  readonly end?: number
  readonly credits?: number
  readonly positions?: readonly { num: number; id: string }[]
  readonly irreversibleOnly?: boolean
  readonly fetch?: readonly [block: boolean, traces: boolean, deltas: boolean]
}

/** A minimal state-history client that keeps every binary frame. */
export class ShipClient {
  readonly socket: WebSocket
  readonly results: Result[] = []
  status: Buffer | null = null
  abiText = ''
  closed = false
  /** Whether the client acknowledges each result when it arrives. */
  autoAck = false
  readonly #waiting = new Set<() => void>()

  private constructor(url: string) {
    this.socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 1 << 30 })
    this.socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary))
    this.socket.on('close', () => {
      this.closed = true
      this.#wake()
    })
    this.socket.on('error', () => undefined)
  }

  static async open(url: string): Promise<ShipClient> {
    const client = new ShipClient(url)
    await client.until(() => client.abiText !== '' || client.closed)
    return client
  }

  requestStatus(): void {
    this.socket.send(Buffer.from([0]))
  }

  request(query: BlocksQuery): void {
    const positions = query.positions ?? []
    const frame = Buffer.alloc(13 + 1 + positions.length * 36 + 4)
    if (positions.length > 127) throw new Error('too many positions for this client')
    frame[0] = 1
    frame.writeUInt32LE(query.start ?? 1, 1)
    frame.writeUInt32LE(query.end ?? 0xffffffff, 5)
    frame.writeUInt32LE(query.credits ?? 1_000_000, 9)
    frame[13] = positions.length
    positions.forEach(({ num, id }, index) => {
      frame.writeUInt32LE(num, 14 + index * 36)
      frame.write(id, 18 + index * 36, 'hex')
    })
    const flags = [query.irreversibleOnly ?? false, ...(query.fetch ?? [true, true, true])]
    flags.forEach((flag, index) => (frame[frame.length - 4 + index] = flag ? 1 : 0))
    this.socket.send(frame)
  }

  ack(messages: number): void {
    const frame = Buffer.from([2, 0, 0, 0, 0])
    frame.writeUInt32LE(messages, 1)
    this.socket.send(frame)
  }

  /** Resolves when the condition holds. The client checks the condition after every frame. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  /** Resolves when the last received block has this number. */
  async untilBlock(num: number): Promise<void> {
    await this.until(() => this.results.at(-1)?.num === num || this.closed)
  }

  async close(): Promise<void> {
    if (this.closed) return
    this.socket.terminate()
    await once(this.socket, 'close')
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (!isBinary) this.abiText = data.toString()
    else if (data[0] === 0) this.status = data
    else this.results.push(readResult(data))
    if (this.autoAck && isBinary && data[0] !== 0) this.ack(1)
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

/** Reads `get_blocks_result_v0`. */
function readResult(frame: Buffer): Result {
  let at = 73
  const position = (): { num: number; id: string } | null => {
    if (frame[at++] === 0) return null
    at += 36
    return { num: frame.readUInt32LE(at - 36), id: frame.toString('hex', at - 32, at) }
  }
  const payload = (): Buffer | null => {
    if (frame[at++] === 0) return null
    let [size, shift] = [0, 0]
    for (;;) {
      const byte = frame[at++]!
      size += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
      shift += 7
    }
    at += size
    return frame.subarray(at - size, at)
  }
  const block = position()
  const prev = position()
  return {
    frame,
    head: frame.readUInt32LE(1),
    lib: frame.readUInt32LE(37),
    num: block?.num ?? null,
    id: block?.id ?? null,
    prevId: prev?.id ?? null,
    block: payload(),
    traces: payload(),
    deltas: payload(),
  }
}
