import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import type { StructNode } from '../../core/antelope/types/index.ts'
import { hasFields, unusableProtocol, requireType } from './protocol-shape.ts'

/** Request of a block stream. `end` is exclusive; 0xffffffff streams forever. */
export interface BlocksRequest {
  readonly start: number
  readonly end: number
  /** Maximum number of messages that the node may send before the first acknowledgement. */
  readonly maxInFlight: number
  /** Reversible blocks that are already applied, ascending; `id` as 64 hexadecimal digits. */
  readonly havePositions: readonly { readonly num: number; readonly id: string }[]
  readonly irreversibleOnly: boolean
  readonly fetchBlock: boolean
  readonly fetchTraces: boolean
  readonly fetchDeltas: boolean
}

/** Packs the three request types of a client: status, blocks and acknowledgement. */
export interface RequestEncoder {
  encodeStatusRequest(): Uint8Array
  /** @throws EncodeError for a number or block id that is out of range or malformed. */
  encodeBlocksRequest(request: BlocksRequest): Uint8Array
  /** Grants the node `messages` further credits. */
  encodeAck(messages: number): Uint8Array
}

const blocksFields = [
  'start_block_num',
  'end_block_num',
  'max_messages_in_flight',
  'have_positions',
  'irreversible_only',
  'fetch_block',
  'fetch_traces',
  'fetch_deltas',
]

/**
 * Creates the encoders for the `request` type of a protocol. Newer nodes have several blocks requests. The encoder uses
 * the request with the fewest flags, because an indexer does not need the additions (finality data, separate headers).
 * @throws FatalError `SHIP_PROTOCOL` if a request type is missing.
 */
export function createRequestEncoder(abi: CompiledAbi): RequestEncoder {
  const encode = abi.encoder('request')
  const status = requestLike(abi, (struct) => struct.fields.length === 0, 'status')
  const blocks = requestLike(abi, (struct) => hasFields(struct, blocksFields), 'blocks')
  const ack = requestLike(abi, (struct) => hasFields(struct, ['num_messages']), 'acknowledgement')
  const extraFlags = blocks.struct.fields.filter((field) => !blocksFields.includes(field.name))
  return {
    encodeStatusRequest: () => encode([status.name, {}]),
    encodeAck: (messages) => encode([ack.name, { num_messages: messages }]),
    encodeBlocksRequest: (request) =>
      encode([
        blocks.name,
        {
          start_block_num: request.start,
          end_block_num: request.end,
          max_messages_in_flight: request.maxInFlight,
          have_positions: request.havePositions.map(({ num, id }) => ({ block_num: num, block_id: id })),
          irreversible_only: request.irreversibleOnly,
          fetch_block: request.fetchBlock,
          fetch_traces: request.fetchTraces,
          fetch_deltas: request.fetchDeltas,
          ...Object.fromEntries(extraFlags.map((field) => [field.name, false])),
        },
      ]),
  }
}

function requestLike(
  abi: CompiledAbi,
  fits: (struct: StructNode) => boolean,
  what: string,
): { name: string; struct: StructNode } {
  const request = requireType(abi.types, 'request')
  if (request.kind !== 'variant') throw unusableProtocol('the type request is not a variant')
  let best: { name: string; struct: StructNode } | null = null
  for (const { name, type } of request.alternatives) {
    if (type.kind !== 'struct' || !fits(type)) continue
    if (best === null || type.fields.length < best.struct.fields.length) best = { name, struct: type }
  }
  if (best === null) throw unusableProtocol(`the variant request has no ${what} request`)
  return best
}
