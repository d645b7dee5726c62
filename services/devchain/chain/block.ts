/** Block number and id (32 bytes; the first four contain the number, big-endian). */
export interface Position {
  readonly num: number
  readonly id: Buffer
}

/**
 * A block as in a node's state-history log: `block` is a packed `signed_block`, `traces` a packed
 * `transaction_trace[]`, `deltas` a packed `table_delta[]`, all in the layout of Leap. Null means "not in the log".
 * `seen` is set in recordings: head and last irreversible block when the recorded node sent the block.
 */
export interface ChainBlock extends Position {
  readonly prevId: Buffer | null
  readonly block: Buffer | null
  readonly traces: Buffer | null
  readonly deltas: Buffer | null
  /** Memory of the block, bytes; default: the size of its payloads. */
  readonly heldBytes?: number
  readonly seen?: { readonly head: Position; readonly lib: Position }
}

/** Time of slot 0 in epoch milliseconds: 2000-01-01T00:00:00Z. A slot is half a second. */
const SLOT_EPOCH_MS = 946_684_800_000

/** Time slot of a block, from the first four bytes of its `signed_block`; 0 if the block is not in the log. */
export function slotOf(block: ChainBlock): number {
  return block.block === null ? 0 : block.block.readUInt32LE(0)
}

/** Converts a time slot to epoch milliseconds. */
export function slotToMs(slot: number): number {
  return SLOT_EPOCH_MS + slot * 500
}

/** Converts epoch milliseconds to a time slot. */
export function slotAt(timeMs: number): number {
  return Math.floor((timeMs - SLOT_EPOCH_MS) / 500)
}
