/** A block number with its id (32 bytes; the first four repeat the number, big-endian). */
export interface Position {
  readonly num: number
  readonly id: Buffer
}

/**
 * One block as the state-history log of a node holds it. `block` is a packed `signed_block`, `traces` a
 * packed `transaction_trace[]`, `deltas` a packed `table_delta[]`, all in the Leap layout; null is "not in
 * the log". `seen` is set by recordings only: head and last irreversible block at the time when the
 * recorded node sent it.
 */
export interface ChainBlock extends Position {
  readonly prevId: Buffer | null
  readonly block: Buffer | null
  readonly traces: Buffer | null
  readonly deltas: Buffer | null
  /** Memory that the block takes, in bytes; by default that of its payloads. */
  readonly heldBytes?: number
  readonly seen?: { readonly head: Position; readonly lib: Position }
}

/** Epoch milliseconds of slot 0, 2000-01-01T00:00:00Z; a slot is half a second. */
const SLOT_EPOCH_MS = 946_684_800_000

/** Time slot of a block from the first four bytes of its `signed_block`; 0 when the block is not there. */
export function slotOf(block: ChainBlock): number {
  return block.block === null ? 0 : block.block.readUInt32LE(0)
}

/** Epoch milliseconds of a time slot. */
export function slotToMs(slot: number): number {
  return SLOT_EPOCH_MS + slot * 500
}

/** The slot of a time (epoch milliseconds). */
export function slotAt(timeMs: number): number {
  return Math.floor((timeMs - SLOT_EPOCH_MS) / 500)
}
