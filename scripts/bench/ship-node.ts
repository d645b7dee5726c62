/**
 * A state-history node for measuring: one client, blocks made in memory by patching numbers into a template,
 * frames written in large chunks, so that the reader and not this process is the limit. Started by
 * `ship.ts` as a child process; prints its port.
 */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { readFileSync } from 'node:fs'

const websocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const framesPerChunk = 128
/** Frames above this size are written in two parts, of which the second is the same for every block. */
const largeFrameBytes = 16_384

/** What to serve, from the command line: blocks, bytes of a message, file of the protocol ABI. */
const [blocks, messageBytes, abiFile] = [
  Number(process.argv[2]),
  Number(process.argv[3]),
  process.argv[4] ?? '',
]

const headLength = 36
const payloadLength = Math.floor((messageBytes - 1 - 2 * headLength - 2 * 37 - 3 - 9) / 3)

function varuint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest])
    bytes.push((rest & 0x7f) | 0x80)
  }
}

/** Where the changing parts of a message lie. */
const thisOffset = 1 + 2 * headLength + 1
const prevOffset = thisOffset + headLength + 1

function position(num: number): Buffer {
  const bytes = Buffer.alloc(headLength, 0x5a)
  bytes.writeUInt32LE(num, 0)
  bytes.writeUInt32BE(num, 4)
  return bytes
}

function result(num: number): Buffer {
  const some = Buffer.from([1])
  const payload = Buffer.concat([some, varuint(payloadLength), Buffer.alloc(payloadLength)])
  const ends = [position(blocks), position(blocks), some, position(num), some, position(num - 1)]
  return Buffer.concat([Buffer.from([1]), ...ends, payload, payload, payload])
}

function frame(opcode: number, payload: Buffer): Buffer {
  const length = payload.length
  const header = length < 126 ? Buffer.alloc(2) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10)
  header[0] = 0x80 | opcode
  header[1] = length < 126 ? length : length < 65_536 ? 126 : 127
  if (header.length === 4) header.writeUInt16BE(length, 2)
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([header, payload])
}

const template = frame(2, result(1))
const base = template.length - result(1).length

/** Writes the number of a block and of the one before it into a frame at `offset`. */
function patch(bytes: Buffer, offset: number, num: number): void {
  for (const [place, value] of [
    [thisOffset, num],
    [prevOffset, num - 1],
  ] as const) {
    bytes.writeUInt32LE(value, offset + base + place)
    bytes.writeUInt32BE(value, offset + base + place + 4)
  }
}

/** A chunk of frames for consecutive blocks. */
function chunk(first: number, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(template.length * count)
  for (let index = 0; index < count; index++) {
    template.copy(bytes, index * template.length)
    patch(bytes, index * template.length, first + index)
  }
  return bytes
}

const prefixLength = base + prevOffset + headLength
const suffix = template.subarray(prefixLength)

function writeBlocks(socket: Duplex, first: number, count: number): void {
  if (template.length <= largeFrameBytes) {
    socket.write(chunk(first, count))
    return
  }
  socket.cork()
  for (let num = first; num < first + count; num++) {
    const prefix = Buffer.from(template.subarray(0, prefixLength))
    patch(prefix, 0, num)
    socket.write(prefix)
    socket.write(suffix)
  }
  socket.uncork()
}

function status(): Buffer {
  const ranges = Buffer.alloc(16)
  ;[1, blocks + 1, 1, blocks + 1].forEach((num, index) => ranges.writeUInt32LE(num, index * 4))
  return Buffer.concat([Buffer.from([0]), position(blocks), position(blocks), ranges, Buffer.alloc(32, 0xc7)])
}

/** Unmasks the small frames of a client; returns the rest that is not whole yet. */
function readFrames(bytes: Buffer, take: (opcode: number, payload: Buffer) => void): Buffer {
  let offset = 0
  while (bytes.length - offset >= 6) {
    const length = bytes.readUInt8(offset + 1) & 0x7f
    if (bytes.length - offset < 6 + length) break
    const mask = bytes.subarray(offset + 2, offset + 6)
    const payload = Buffer.from(bytes.subarray(offset + 6, offset + 6 + length))
    for (let index = 0; index < length; index++) payload[index]! ^= mask[index & 3]!
    take(bytes.readUInt8(offset) & 0x0f, payload)
    offset += 6 + length
  }
  return bytes.subarray(offset)
}

function serve(socket: Duplex): void {
  let next = 1
  let credits = 0
  let rest: Buffer = Buffer.alloc(0)
  const send = (): void => {
    while (credits > 0 && next <= blocks && socket.writableLength < 8 * 2 ** 20) {
      const count = Math.min(credits, framesPerChunk, blocks - next + 1)
      writeBlocks(socket, next, count)
      next += count
      credits -= count
    }
  }
  socket.on('drain', send)
  socket.on('error', () => socket.destroy())
  socket.on('data', (data: Buffer) => {
    rest = readFrames(rest.length === 0 ? data : Buffer.concat([rest, data]), (opcode, payload) => {
      if (opcode === 8) socket.end()
      else if (opcode === 9) socket.write(frame(10, payload))
      else if (opcode === 2 && payload[0] === 0) socket.write(frame(2, status()))
      else if (opcode === 2)
        credits = payload[0] === 1 ? payload.readUInt32LE(9) : credits + payload.readUInt32LE(1)
    })
    send()
  })
  socket.write(frame(1, readFileSync(abiFile)))
}

const server = createServer()
server.on('upgrade', (request, socket) => {
  const key = String(request.headers['sec-websocket-key'])
  const accept = createHash('sha1')
    .update(key + websocketGuid)
    .digest('base64')
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  serve(socket)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
