import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { createChoices } from '../../scripts/compare/requests/choices.ts'
import type { Choices } from '../../scripts/compare/requests/choices.ts'
import { hostileJson, hostileTexts } from '../../scripts/compare/requests/values.ts'
import { addressOf } from './rest.ts'
import { noise } from './ship-relay.ts'
import { isHonest, Tally } from './tally.ts'

const PATIENCE_MS = 1_000
/** An attack reads an event stream for at most this time, ms. */
const STREAM_MS = 100
const MAX_FRAMES = 90

const paths = ['/assets/v1/live', '/market/v1/live', '/tools/v1/live', '/atomicassets/v1/live']
const filterNames = [
  'events',
  'assets',
  'accounts',
  'collections',
  'templates',
  'schemas',
  'sales',
  'x',
  '__proto__',
]
const rooms = [
  '/assets/v1/assets',
  '/assets/v1/offers',
  '/market/v1/sales',
  '/',
  '/x',
  `/${'x'.repeat(3_000)}`,
]

/** Protocol of an attacking client. */
type Tongue = 'websocket' | 'socket.io 3' | 'socket.io 4' | 'polling' | 'event stream'

/** Sends malformed frames and packets to the websocket, event stream and socket.io endpoints. */
export class SocketAttack {
  readonly tally: Tally
  readonly #tongue: Tongue
  readonly #host: string
  readonly #port: number

  constructor(url: string, tongue: Tongue) {
    const { hostname, port } = new URL(url)
    this.#host = hostname
    this.#port = Number(port)
    this.#tongue = tongue
    this.tally = new Tally(`api: ${tongue}`)
  }

  /** Opens a connection and sends the random frames that the seed determines. */
  async send(seed: number): Promise<void> {
    const random = createChoices(seed)
    const blame = (status: number): void => {
      this.tally.note(String(status))
      if (!isHonest(status)) this.tally.blame(`seed ${seed} -> ${status}`)
    }
    if (this.#tongue === 'polling') return this.#poll(random, blame)
    if (this.#tongue === 'event stream') return this.#stream(random, blame)
    const path =
      this.#tongue === 'websocket'
        ? `${random.pick(paths)}${random.pick(['', '?x=1', '/'])}`
        : `/socket.io/?EIO=${this.#tongue === 'socket.io 3' ? 3 : 4}&transport=websocket`
    const talk = new Talk(this.#host, this.#port)
    const status = await talk.open(upgradeRequest(path, random))
    blame(status)
    if (status !== 101) {
      talk.end()
      return
    }
    for (let left = 1 + random.below(MAX_FRAMES); left > 0 && talk.isOpen; left--) {
      const isText = random.chance(0.8)
      talk.write(isText ? maskedFrame(0x81, Buffer.from(this.#text(random))) : oddFrame(random))
      this.tally.sent++
      if (random.chance(0.1)) await talk.pause()
    }
    this.tally.note(await talk.finish(random.chance(0.5)))
  }

  #text(random: Choices): string {
    return this.#tongue === 'websocket' ? subscription(random) : packet(random)
  }

  async #poll(random: Choices, blame: (status: number) => void): Promise<void> {
    const base = `/socket.io/?EIO=${random.pick(['3', '4', '3', '4', '2', 'x'])}&transport=polling${random.pick(['', '', '&j=1', '&b64=1'])}`
    const opened = await this.#ask(`GET ${base} HTTP/1.1\r\n`, '', random)
    blame(opened.status)
    const sid = random.chance(0.85)
      ? (/"sid":"([^"]+)"/.exec(opened.text)?.[1] ?? 'x')
      : random.pick(['x', '', '../', 'a'.repeat(500)])
    for (let left = 1 + random.below(8); left > 0; left--) {
      const body = pollBody(random)
      const method = random.chance(0.8) ? 'POST' : 'GET'
      const { status } = await this.#ask(
        `${method} ${base}&sid=${sid} HTTP/1.1\r\n`,
        method === 'POST' ? body : '',
        random,
      )
      blame(status)
    }
  }

  /** Sends a request on a connection of its own. Polling requests that wait for events are closed. */
  async #ask(line: string, body: string, random: Choices): Promise<{ status: number; text: string }> {
    this.tally.sent++
    const talk = new Talk(this.#host, this.#port)
    const type = random.pick([
      'text/plain;charset=UTF-8',
      'application/octet-stream',
      'application/x-www-form-urlencoded',
      'x',
    ])
    const bytes = Buffer.from(body)
    const head = `${line}Host: x\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\nX-Forwarded-For: ${addressOf(random)}\r\n\r\n`
    const status = await talk.open(Buffer.concat([Buffer.from(head), bytes]), PATIENCE_MS)
    const { text } = talk
    talk.end()
    return { status, text }
  }

  async #stream(random: Choices, blame: (status: number) => void): Promise<void> {
    const query = filterNames
      .filter(() => random.chance(0.3))
      .map(
        (name) =>
          `${name}=${encodeURIComponent(random.pick([...hostileTexts, 'asset_minted', '1099511627776']).replaceAll(/\p{Surrogate}/gu, '?'))}`,
      )
      .join('&')
    const path = `${random.pick(paths).replace('live', 'events')}?${query}`
    const cursor = random.chance(0.3) ? `Last-Event-ID: ${cursorText(random)}\r\n` : ''
    this.tally.sent++
    const talk = new Talk(this.#host, this.#port)
    const status = await talk.open(
      Buffer.from(
        `GET ${path} HTTP/1.1\r\nHost: x\r\n${cursor}X-Forwarded-For: ${addressOf(random)}\r\n\r\n`,
      ),
    )
    blame(status)
    if (status === 200) await new Promise((resolve) => setTimeout(resolve, random.below(STREAM_MS)))
    talk.end()
  }
}

/** A TCP connection that can send any bytes. */
class Talk {
  text = ''
  readonly #socket: Socket
  readonly #closed: Promise<void>

  constructor(host: string, port: number) {
    this.#socket = connect(port, host)
    this.#socket.on('error', () => undefined)
    this.#closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable
  }

  /**
   * Sends bytes and waits for the response.
   * @returns the status of the response; 0 if there is none.
   */
  async open(bytes: Buffer, patienceMs = PATIENCE_MS * 30): Promise<number> {
    this.#socket.write(bytes)
    const answered = new Promise<void>((resolve) => {
      this.#socket.on('data', (chunk: Buffer) => {
        if (this.text.length < 20_000) this.text += chunk.toString('latin1')
        if (this.text.includes('\r\n\r\n')) resolve()
      })
    })
    await Promise.race([answered, this.#closed, after(patienceMs)])
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(this.text)?.[1] ?? 0)
  }

  write(bytes: Buffer): void {
    if (this.isOpen) this.#socket.write(bytes)
  }

  pause(): Promise<void> {
    return after(2)
  }

  /**
   * Closes the connection. With `waits`, the server gets 50 ms to close it first.
   * @returns who closed it.
   */
  async finish(waits: boolean): Promise<string> {
    if (waits) await Promise.race([this.#closed, after(50)])
    const cut = this.#socket.destroyed
    this.end()
    return cut ? 'ended by the server' : 'left'
  }

  end(): void {
    this.#socket.destroy()
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function upgradeRequest(path: string, random: Choices): Buffer {
  const deflate = random.pick([
    '',
    '',
    'Sec-WebSocket-Extensions: permessage-deflate\r\n',
    'Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99\r\n',
  ])
  const odd = random.chance(0.05)
    ? random.pick(['Sec-WebSocket-Version: 12\r\n', 'Origin: null\r\n', 'Sec-WebSocket-Protocol: ,,\r\n'])
    : 'Sec-WebSocket-Version: 13\r\n'
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${odd}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${deflate}X-Forwarded-For: ${addressOf(random)}\r\n\r\n`,
  )
}

/** A masked frame of a client; a mask of zeros leaves the payload as it is. */
function maskedFrame(first: number, payload: Buffer, isMasked = true): Buffer {
  const mask = isMasked ? 0x80 : 0
  const { length } = payload
  const head =
    length < 126
      ? Buffer.from([first, mask | length])
      : length < 65_536
        ? Buffer.from([first, mask | 126, length >> 8, length & 255])
        : Buffer.concat([Buffer.from([first, mask | 127, 0, 0, 0, 0]), uint32(length)])
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), payload])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function oddFrame(random: Choices): Buffer {
  const small = noise(random, random.below(125))
  switch (random.below(12)) {
    case 0:
      return maskedFrame(0x89, small)
    case 1:
      return maskedFrame(0x8a, small)
    case 2:
      return maskedFrame(0x82, noise(random, random.below(3_000)))
    case 3:
      return maskedFrame(0x80 | random.below(16), small)
    case 4:
      return maskedFrame(random.below(256), small)
    case 5:
      return maskedFrame(0x81, Buffer.from('{"type":"subscribe"}'), false)
    case 6:
      return Buffer.from(
        random.pick([
          '81ffffffffffffffffff00000000',
          '81ff000000007fffffff00000000',
          '89fe100000000000',
          '81fe0001',
        ]),
        'hex',
      )
    case 7:
      return Buffer.concat(Array.from({ length: 50 }, () => maskedFrame(0x00, Buffer.from('x'))))
    case 8:
      return Buffer.concat([
        maskedFrame(0x01, Buffer.from('{"type":')),
        maskedFrame(0x89, small),
        maskedFrame(0x80, Buffer.from('"subscribe"}')),
      ])
    case 9:
      return maskedFrame(
        0x88,
        Buffer.concat([Buffer.from([random.below(256), random.below(256)]), small.subarray(0, 100)]),
      )
    case 10:
      // A frame whose header claims compression.
      return maskedFrame(0xc1, small)
    default:
      return maskedFrame(0x81, Buffer.alloc(random.pick([65_536, 65_537, 200_000]), 'x'))
  }
}

function subscription(random: Choices): string {
  if (random.chance(0.2))
    return random.pick([
      '',
      '{',
      '[]',
      'null',
      '1',
      `${'['.repeat(9_000)}${']'.repeat(9_000)}`,
      '\ufeff{}',
      '{"type":"x"}',
      '{"type":["subscribe"]}',
    ])
  const fields = filterNames.filter(() => random.chance(0.25)).map((name) => [name, value(random)] as const)
  const own = random.chance(0.3) ? [['id', value(random)] as const] : []
  const cursor = random.chance(0.2)
    ? [['cursor', random.chance(0.5) ? cursorText(random) : value(random)] as const]
    : []
  const type = random.pick(['subscribe', 'subscribe', 'subscribe', 'unsubscribe', 'toString'])
  return JSON.stringify(Object.fromEntries([['type', type], ...own, ...cursor, ...fields]))
}

function value(random: Choices): unknown {
  return random.pick<unknown>([
    ...hostileJson,
    ...hostileTexts.slice(0, 60),
    ['asset_minted', 'asset_updated'],
    Array(2_000).fill('1099511627776'),
    ['1099511627776'],
    'x'.repeat(500),
  ])
}

function cursorText(random: Choices): string {
  const bytes = noise(random, random.below(60))
  return random.pick([
    bytes.toString('base64url'),
    bytes.toString('hex'),
    '0',
    '1.1',
    '1-1-1',
    'x'.repeat(600),
    '-1.9223372036854775808',
  ])
}

function packet(random: Choices): string {
  const room = random.pick(rooms)
  const data = (): string =>
    JSON.stringify(
      random.pick<unknown>([
        ...hostileJson,
        { new_assets: true },
        { new_offers: 1 },
        ...hostileTexts.slice(0, 20),
      ]),
    )
  switch (random.below(12)) {
    case 0:
      return random.pick(['2', '2probe', '3', '3probe', '5', '6', '1', '0', '7', '', '9'])
    case 1:
      return `40${room},`
    case 2:
      return `40${room},${data()}`
    case 3:
      return `41${room},`
    case 4:
      return `42${room},["subscribe",${data()}]`
    case 5:
      return `42${room},${random.below(2 ** 31)}["subscribe",${data()},${data()}]`
    case 6:
      return `45${random.pick(['1', '9'.repeat(20), '-1', ''])}-${room},["subscribe",{"_placeholder":true,"num":${random.pick(['0', '-1', '1e9', '"__proto__"'])}}]`
    case 7:
      return `42["${random.pick(['disconnect', 'error', '__proto__', 'connect', 'newListener'])}",${data()}]`
    case 8:
      return `43${room},1[${data()}]`
    case 9:
      return `4${random.below(10)}${noise(random, random.below(80)).toString('latin1')}`
    case 10:
      return `42${'9'.repeat(random.below(400))}[`
    default:
      return noise(random, random.below(80)).toString('latin1')
  }
}

function pollBody(random: Choices): string {
  const many = Array.from({ length: 1 + random.below(30) }, () => packet(random))
  switch (random.below(6)) {
    case 0:
      return many.map((each) => `${each.length}:${each}`).join('')
    case 1:
      return many.join('\u001e')
    case 2:
      return `${random.pick(['9'.repeat(30), '-1', 'x', ''])}:2`
    case 3:
      return '1:2'.repeat(random.below(20_000))
    case 4:
      return '\u001e'.repeat(random.below(20_000))
    default:
      return `b${noise(random, 40).toString('base64')}`
  }
}
