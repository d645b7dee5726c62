import { createHash } from 'node:crypto'
import type {
  BlocksRequest,
  BlocksResult,
  ProtocolCodec,
  StatusResult,
} from '../../services/filler/ship/types.ts'

/** Node generations that differ in the protocol; each has a protocol ABI in `tests/fixtures/contracts`. */
export const generations = ['eosio-1.8', 'eosio-2.0', 'eosio-2.1', 'leap', 'spring'] as const
export type Generation = (typeof generations)[number]

/** A block of a test chain. A null payload is left out of the message. */
export interface TestBlock {
  readonly num: number
  readonly id: Buffer
  readonly prevId: Buffer | null
  readonly block: Buffer | null
  readonly traces: Buffer | null
  readonly deltas: Buffer | null
}

export interface Place {
  readonly num: number
  readonly id: Buffer
}

/** A block id as nodes compute it: the block number, big-endian, then a part of a hash. */
export function blockId(num: number, branch: string): Buffer {
  const id = createHash('sha256').update(`${branch}:${num}`).digest()
  id.writeUInt32BE(num, 0)
  return id
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function varuint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80)
    rest >>>= 7
  }
  return Buffer.from([...bytes, rest])
}

/** Reads a varuint32; returns the number and the offset behind it. */
function readVaruint(bytes: Buffer, offset: number): [number, number] {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes.readUInt8(offset++)
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return [value, offset]
  }
}

const place = ({ num, id }: Place): Buffer => Buffer.concat([uint32(num), id])
const sized = (bytes: Buffer): Buffer => Buffer.concat([varuint(bytes.length), bytes])
const optional = (bytes: Buffer | null): Buffer =>
  bytes === null ? Buffer.from([0]) : Buffer.concat([Buffer.from([1]), bytes])
const optionalSized = (bytes: Buffer | null): Buffer => optional(bytes === null ? null : sized(bytes))

/** Packs a `signed_block` without transactions; for EOSIO 2.1 a variant with its index byte. */
export function packBlock(generation: Generation, num: number, prevId: Buffer | null): Buffer {
  const header = Buffer.concat([uint32(num), Buffer.alloc(10), prevId ?? Buffer.alloc(32), Buffer.alloc(68)])
  const signed = Buffer.concat([header, Buffer.from([0, 0]), Buffer.alloc(66)])
  if (generation !== 'eosio-2.1') return Buffer.concat([signed, Buffer.from([0, 0])])
  return Buffer.concat([Buffer.from([1]), signed, Buffer.from([0, 0, 0])])
}

/**
 * Packs a blocks result as this node generation replies to a version 0 request. `block` null: a result without a
 * block.
 */
export function packBlocksResult(
  generation: Generation,
  head: Place,
  lib: Place,
  block: TestBlock | null,
): Buffer {
  const prev = block?.prevId ? place({ num: block.num - 1, id: block.prevId }) : null
  const start = [place(head), place(lib), optional(block === null ? null : place(block)), optional(prev)]
  const payloads = {
    block: block?.block ?? null,
    traces: block?.traces ?? null,
    deltas: block?.deltas ?? null,
  }
  if (generation === 'eosio-2.1') {
    const none = Buffer.alloc(0)
    const rest = [optional(payloads.block), sized(payloads.traces ?? none), sized(payloads.deltas ?? none)]
    return Buffer.concat([Buffer.from([2]), ...start, ...rest])
  }
  const rest = [payloads.block, payloads.traces, payloads.deltas].map(optionalSized)
  return Buffer.concat([Buffer.from([1]), ...start, ...rest])
}

export interface TestRanges {
  readonly traceBegin: number
  readonly traceEnd: number
  readonly stateBegin: number
  readonly stateEnd: number
}

/** Packs a status result. Nodes before EOSIO 2.1 leave the chain id out. */
export function packStatus(head: Place, lib: Place, ranges: TestRanges, chainId: Buffer | null): Buffer {
  const { traceBegin, traceEnd, stateBegin, stateEnd } = ranges
  const numbers = [traceBegin, traceEnd, stateBegin, stateEnd].map(uint32)
  return Buffer.concat([Buffer.from([0]), place(head), place(lib), ...numbers, chainId ?? Buffer.alloc(0)])
}

/** Parses a blocks request like a node. */
export function readBlocksRequest(bytes: Buffer): BlocksRequest {
  const [count, first] = readVaruint(bytes, 13)
  const havePositions = Array.from({ length: count }, (_, index) => {
    const offset = first + index * 36
    return { num: bytes.readUInt32LE(offset), id: bytes.toString('hex', offset + 4, offset + 36) }
  })
  const flags = bytes.subarray(first + count * 36)
  return {
    start: bytes.readUInt32LE(1),
    end: bytes.readUInt32LE(5),
    maxInFlight: bytes.readUInt32LE(9),
    havePositions,
    irreversibleOnly: flags[0] === 1,
    fetchBlock: flags[1] === 1,
    fetchTraces: flags[2] === 1,
    fetchDeltas: flags[3] === 1,
  }
}

/** A hand-written codec for the common message layout, so that session tests do not depend on the decoder. */
export function plainCodec(): ProtocolCodec {
  return {
    decodeResult: readPlainResult,
    encodeStatusRequest: () => Buffer.from([0]),
    encodeBlocksRequest: (request) =>
      Buffer.concat([
        Buffer.from([1]),
        ...[request.start, request.end, request.maxInFlight].map(uint32),
        varuint(request.havePositions.length),
        ...request.havePositions.map(({ num, id }) => place({ num, id: Buffer.from(id, 'hex') })),
        Buffer.from(
          [request.irreversibleOnly, request.fetchBlock, request.fetchTraces, request.fetchDeltas].map(
            Number,
          ),
        ),
      ]),
    encodeAck: (messages) => Buffer.concat([Buffer.from([2]), uint32(messages)]),
  }
}

function readPlainResult(frame: Uint8Array): StatusResult | BlocksResult {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)
  let offset = 1
  const number = (): number => bytes.readUInt32LE((offset += 4) - 4)
  const position = (): Place => ({ num: number(), id: bytes.subarray(offset, (offset += 32)) })
  const present = (): boolean => bytes.readUInt8(offset++) === 1
  const payload = (): Buffer => {
    const [length, start] = readVaruint(bytes, offset)
    offset = start
    if (offset + length > bytes.length) throw new RangeError('payload ends behind the message')
    return bytes.subarray(offset, (offset += length))
  }
  const head = position()
  const lib = position()
  if (bytes[0] === 0) {
    const [traceBegin, traceEnd, stateBegin, stateEnd] = [number(), number(), number(), number()]
    const chainId = bytes.length > offset ? bytes.subarray(offset, offset + 32) : null
    return {
      kind: 'status',
      head,
      lastIrreversible: lib,
      traceBegin,
      traceEnd,
      stateBegin,
      stateEnd,
      chainId,
    }
  }
  if (bytes[0] !== 1) throw new RangeError(`no result has index ${bytes[0] ?? 'none'}`)
  const [self, prev] = [present() ? position() : null, present() ? position() : null]
  const [block, traces, deltas] = [0, 1, 2].map(() => (present() ? payload() : null))
  return { kind: 'blocks', head, lib, this: self, prev, block: block!, traces: traces!, deltas: deltas! }
}
