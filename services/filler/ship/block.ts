import type { BlocksResult, ShipBlock, WirePosition } from './types.ts'

/** Hex form of an id, 64 lower-case digits. */
export function idToHex(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex')
}

/**
 * A delivered block. A class with lazy getters rather than an object literal: most hex ids are never read, and empty
 * blocks pass at more than 100,000 a second.
 */
export class ReceivedBlock implements ShipBlock {
  readonly node: string
  readonly bytes: number
  readonly num: number
  readonly idBytes: Uint8Array
  readonly prevIdBytes: Uint8Array | null
  head: WirePosition
  readonly lib: WirePosition
  readonly header: Uint8Array | null
  readonly traces: Uint8Array | null
  readonly deltas: Uint8Array | null
  #id: string | null = null

  /** `position` is `result.this`, which the caller has checked to be present. */
  constructor(node: string, bytes: number, position: WirePosition, result: BlocksResult) {
    this.node = node
    this.bytes = bytes
    this.num = position.num
    this.idBytes = position.id
    this.prevIdBytes = result.prev === null ? null : result.prev.id
    this.head = result.head
    this.lib = result.lib
    this.header = presentPayload(result.block)
    this.traces = presentPayload(result.traces)
    this.deltas = presentPayload(result.deltas)
  }

  get id(): string {
    this.#id ??= idToHex(this.idBytes)
    return this.#id
  }

  get prevId(): string | null {
    return this.prevIdBytes === null ? null : idToHex(this.prevIdBytes)
  }
}

/** EOSIO 2.1 sends payloads that are not optional: a missing payload has zero bytes, while an empty array has one. */
function presentPayload(payload: Uint8Array | null): Uint8Array | null {
  return payload === null || payload.length === 0 ? null : payload
}
