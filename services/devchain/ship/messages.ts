import { ByteReader } from '../bytes/index.ts'
import type { ChainBlock, Position } from '../chain/index.ts'

/** A client request of the state-history protocol; all have version 0. */
export type ShipRequest =
  | { readonly kind: 'status' }
  | { readonly kind: 'ack'; readonly messages: number }
  | ({ readonly kind: 'blocks' } & BlocksRequest)

/** `get_blocks_request_v0`; `end` is exclusive. */
export interface BlocksRequest {
  readonly start: number
  readonly end: number
  readonly credits: number
  readonly positions: readonly Position[]
  readonly irreversibleOnly: boolean
  readonly fetchBlock: boolean
  readonly fetchTraces: boolean
  readonly fetchDeltas: boolean
}

/** A status result: head, last irreversible block, and half-open ranges of both logs. */
export interface StatusAnswer {
  readonly head: Position
  readonly lib: Position
  readonly begin: number
  readonly end: number
  readonly traceBegin: number
  readonly chainId: string
}

/** Parses a binary client frame. Throws `RangeError` if it is not a request. */
export function readRequest(frame: Buffer): ShipRequest {
  const reader = new ByteReader(frame)
  const kind = reader.varuint()
  if (kind === 0) return { kind: 'status' }
  if (kind === 2) return { kind: 'ack', messages: reader.u32() }
  if (kind !== 1) throw new RangeError(`request variant ${kind} is not known`)
  const start = reader.u32()
  const end = reader.u32()
  const credits = reader.u32()
  const positions: Position[] = []
  for (let left = reader.varuint(); left > 0; left--) {
    positions.push({ num: reader.u32(), id: Buffer.from(reader.take(32)) })
  }
  const [irreversibleOnly, fetchBlock] = [reader.bool(), reader.bool()]
  const [fetchTraces, fetchDeltas] = [reader.bool(), reader.bool()]
  return {
    kind: 'blocks',
    start,
    end,
    credits,
    positions,
    irreversibleOnly,
    fetchBlock,
    fetchTraces,
    fetchDeltas,
  }
}

/** Packs a status result (variant index 0, with the chain id). */
export function packStatus(status: StatusAnswer): Buffer {
  const frame = Buffer.alloc(1 + 36 + 36 + 16 + 32)
  writePosition(frame, 1, status.head)
  writePosition(frame, 37, status.lib)
  frame.writeUInt32LE(status.traceBegin, 73)
  frame.writeUInt32LE(status.end, 77)
  frame.writeUInt32LE(status.begin, 81)
  frame.writeUInt32LE(status.end, 85)
  frame.write(status.chainId, 89, 'hex')
  return frame
}

/** Payloads that a client requests. */
export type Fetch = Pick<BlocksRequest, 'fetchBlock' | 'fetchTraces' | 'fetchDeltas'>

/**
 * Packs a blocks result (`get_blocks_result_v0`, variant index 1). Without a block it is a header-only result of 78
 * bytes.
 */
export function packResult(head: Position, lib: Position, block: ChainBlock | null, fetch: Fetch): Buffer {
  const payloads = [
    block !== null && fetch.fetchBlock ? block.block : null,
    block !== null && fetch.fetchTraces ? block.traces : null,
    block !== null && fetch.fetchDeltas ? block.deltas : null,
  ]
  let size = 73 + optionalPositionSize(block) + optionalPositionSize(block?.prevId ?? null)
  for (const payload of payloads) size += payloadSize(payload)
  const frame = Buffer.allocUnsafe(size)
  frame[0] = 1
  writePosition(frame, 1, head)
  writePosition(frame, 37, lib)
  let at = writeOptionalPosition(frame, 73, block)
  const prevId = block?.prevId ?? null
  at = writeOptionalPosition(frame, at, prevId === null ? null : { num: block!.num - 1, id: prevId })
  for (const payload of payloads) at = writePayload(frame, at, payload)
  return frame
}

function optionalPositionSize(position: unknown): number {
  return position === null ? 1 : 37
}

function payloadSize(payload: Buffer | null): number {
  return payload === null ? 1 : 1 + varuintSize(payload.length) + payload.length
}

function varuintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 0x7f; rest >>>= 7) size++
  return size
}

function writePosition(frame: Buffer, at: number, position: Position): number {
  frame.writeUInt32LE(position.num, at)
  frame.set(position.id, at + 4)
  return at + 36
}

function writeOptionalPosition(frame: Buffer, at: number, position: Position | null): number {
  frame[at] = position === null ? 0 : 1
  return position === null ? at + 1 : writePosition(frame, at + 1, position)
}

function writePayload(frame: Buffer, at: number, payload: Buffer | null): number {
  frame[at++] = payload === null ? 0 : 1
  if (payload === null) return at
  let rest = payload.length
  for (; rest > 0x7f; rest >>>= 7) frame[at++] = (rest & 0x7f) | 0x80
  frame[at++] = rest
  frame.set(payload, at)
  return at + payload.length
}
