import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { createChoices } from '../../scripts/compare/requests/choices.ts'
import type { Choices } from '../../scripts/compare/requests/choices.ts'
import { Tally } from './tally.ts'

/**
 * Quiet time before the first attack on a connection, ms, in which the reader makes progress. Maximum for most
 * connections: CALM_MS. Maximum for one connection in ten: LONG_CALM_MS.
 */
const CALM_MS = 60
const LONG_CALM_MS = 1_500
/** Interval of attacks on a connection after its quiet time, ms. */
const ATTACK_MS = 5
/**
 * Number of first messages (such as greeting and status), each of which is attacked at once with a probability of 10 %.
 */
const FIRST_MESSAGES = 3

/**
 * Relay before a chain node. In attack mode it corrupts the node's messages, so that no reader can mistake a message
 * for a block: it truncates, repeats, omits and fragments messages, and sends random bytes, invalid websocket frames
 * and floods of unrequested messages.
 */
export class ShipRelay {
  readonly url: string
  readonly tally = new Tally('filler: frames of the chain node')
  readonly #target: string
  readonly #server: WebSocketServer
  readonly #http: ReturnType<typeof createServer>
  readonly #pairs = new Map<WebSocket, WebSocket>()
  #seed: number | undefined
  #most = 0
  #connections = 0

  private constructor(target: string, http: ReturnType<typeof createServer>) {
    this.#target = target
    this.#http = http
    this.#server = new WebSocketServer({ server: http, perMessageDeflate: false })
    this.url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`
    this.#server.on('connection', (client) => {
      this.#join(client)
    })
  }

  static async open(target: string): Promise<ShipRelay> {
    const http = createServer()
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    return new ShipRelay(target, http)
  }

  /** Starts attack mode with a seed, until this many frames have been sent. */
  attack(seed: number, frames: number): void {
    this.#seed = seed
    this.#most = frames
    this.drop()
  }

  get isDone(): boolean {
    return this.tally.sent >= this.#most
  }

  /** Ends attack mode: forwards all messages unchanged. */
  calm(): void {
    this.#seed = undefined
    this.drop()
  }

  /** Cuts all connections between clients and the node. */
  drop(): void {
    for (const [client, node] of this.#pairs) for (const socket of [client, node]) socket.terminate()
  }

  async close(): Promise<void> {
    this.drop()
    this.#server.close()
    this.#http.close()
    await once(this.#http, 'close')
  }

  #join(client: WebSocket): void {
    const node = new WebSocket(this.#target, { perMessageDeflate: false })
    this.#pairs.set(client, node)
    const number = this.#connections++
    const isHostile = this.#seed !== undefined && !this.isDone
    if (isHostile) this.tally.note('connections')
    const attack = isHostile
      ? new ConnectionAttack(client, createChoices(this.#seed! + number * 7_919), this.tally)
      : undefined
    const waiting: Buffer[] = []
    client.on('message', (data: Buffer) => {
      if (node.readyState === WebSocket.OPEN) node.send(data)
      else waiting.push(data)
    })
    node.on('open', () => {
      for (const data of waiting.splice(0)) node.send(data)
    })
    node.on('message', (data: Buffer, isBinary) => {
      if (client.readyState !== WebSocket.OPEN) return
      if (attack && !this.isDone) attack.pass(data, isBinary)
      else client.send(data, { binary: isBinary })
    })
    client
      .on('error', () => undefined)
      .on('close', () => {
        node.terminate()
        this.#pairs.delete(client)
      })
    node.on('error', () => undefined).on('close', () => client.terminate())
  }
}

class ConnectionAttack {
  readonly #client: WebSocket
  readonly #random: Choices
  readonly #tally: Tally
  #passed = 0
  #last: Buffer | undefined
  #first: Buffer | undefined

  constructor(client: WebSocket, random: Choices, tally: Tally) {
    this.#client = client
    this.#random = random
    this.#tally = tally
    const calmMs = random.chance(0.1) ? LONG_CALM_MS : random.below(CALM_MS)
    let timer = setTimeout(() => {
      timer = setInterval(() => {
        if (this.#last) this.#attack(this.#last, true)
      }, ATTACK_MS)
    }, calmMs)
    client.once('close', () => {
      clearInterval(timer)
    })
  }

  /** Forwards a message of the node to the client, or sends an attack instead. */
  pass(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.#last = data
      this.#first ??= data
    }
    if (this.#passed++ < FIRST_MESSAGES && this.#random.chance(0.1)) this.#attack(data, isBinary)
    else this.#send(data, isBinary)
  }

  #attack(data: Buffer, isBinary: boolean): void {
    const random = this.#random
    switch (random.below(14)) {
      case 0:
        return this.#send(data.subarray(0, random.below(data.length)), isBinary)
      case 1:
        return this.#send(Buffer.concat([data, noise(random, 1 + random.below(64))]), isBinary)
      case 2:
        return this.#send(noise(random, random.below(5_000)), true)
      case 3:
        return this.#send(
          Buffer.concat([Buffer.from([random.below(4)]), noise(random, random.below(300))]),
          true,
        )
      case 4:
        // Repeat one of the messages that the node has sent earlier.
        for (let times = 1 + random.below(20); times > 0; times--)
          this.#send(random.pick([this.#last, this.#first]) ?? data, true)
        return this.#send(data, isBinary)
      case 5:
        // Omit the message.
        return undefined
      case 6:
        for (let times = 500; times > 0; times--) this.#control(() => this.#client.ping(noise(random, 125)))
        return this.#send(data, isBinary)
      case 7:
        for (let times = 500; times > 0; times--) this.#control(() => this.#client.pong(noise(random, 125)))
        return this.#send(data, isBinary)
      case 8:
        return this.#fragments(data, isBinary, 1 + random.below(3))
      case 9:
        return this.#send(
          Buffer.from(random.pick(['', '{', '[]', '{"version":"eosio::abi/9"}', '['.repeat(50_000)])),
          false,
        )
      case 10:
        return this.#raw(random)
      case 11:
        return this.#control(() => {
          this.#client.close(random.pick([1000, 1001, 1002, 1011, 4_999]), 'x'.repeat(random.below(123)))
        })
      case 12:
        return this.#control(() => {
          socketOf(this.#client).resetAndDestroy()
        })
      default:
        for (let times = 200; times > 0; times--) this.#send(this.#first ?? data, true)
    }
  }

  #send(data: Buffer, isBinary: boolean): void {
    if (this.#client.readyState !== WebSocket.OPEN) return
    this.#tally.sent++
    this.#client.send(data, { binary: isBinary })
  }

  #control(action: () => void): void {
    if (this.#client.readyState !== WebSocket.OPEN) return
    this.#tally.sent++
    action()
  }

  #fragments(data: Buffer, isBinary: boolean, bytes: number): void {
    const part = data.subarray(0, 6_000)
    for (let at = 0; at < part.length && this.#client.readyState === WebSocket.OPEN; at += bytes) {
      this.#tally.sent++
      this.#client.send(part.subarray(at, at + bytes), { binary: isBinary, fin: at + bytes >= part.length })
    }
  }

  /**
   * Sends invalid websocket bytes: reserved bits and opcodes, masked or endless frames, and bytes that are no frame.
   */
  #raw(random: Choices): void {
    if (this.#client.readyState !== WebSocket.OPEN) return
    this.#tally.sent++
    const bytes = random.pick([
      Buffer.from([0xf2, 0x01, 0x00]),
      Buffer.from([0x83, 0x00]),
      Buffer.from([0x82, 0x81, 1, 2, 3, 4, 5]),
      Buffer.from('827fffffffffffffffff', 'hex'),
      Buffer.from('827f0000000080000000', 'hex'),
      Buffer.from([0x80, 0x01, 0x00]),
      Buffer.from([0x88, 0x01, 0x00]),
      Buffer.from([0x89, 0x7e, 0xff, 0xff]),
      Buffer.from([0x81, 0x02, 0xff, 0xfe]),
      Buffer.from('HTTP/1.1 500 Oops\r\n\r\n'),
      noise(random, 200),
    ])
    socketOf(this.#client).write(bytes)
  }
}

function socketOf(client: WebSocket): Socket {
  return (client as unknown as { _socket: Socket })._socket
}

/** Pseudo-random bytes. */
export function noise(random: Choices, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at++) bytes[at] = random.below(256)
  return bytes
}
