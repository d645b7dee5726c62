import type { OldBid, OldEventRow } from './event-window.ts'

/**
 * An event with a global sequence. Bids have an assigned sequence instead of the sequence of the chain, because the
 * source database stores no sequences of bids.
 */
export type PlacedEvent =
  (OldEventRow & { readonly seq: bigint }) | (Omit<OldBid, 'seq'> & { readonly seq: bigint })

/**
 * Assigns a global sequence to each bid, because the source database stores none, and sorts all events by global
 * sequence.
 *
 * - The sequence of a bid is unused, above the sequences of all earlier blocks and below the sequences of all later
 *   blocks. Such a sequence exists, because the chain uses at least one sequence for each block and one for each bid.
 * - The import keeps the block and the transaction of each bid, and the order of the bids on an auction. Only the
 *   sequence differs from the chain.
 *
 * @param before greatest global sequence of an earlier block; null if unknown.
 */
export function placeEvents(events: readonly OldEventRow[], before: bigint | null): PlacedEvent[] {
  const blocks = new Map<number, { known: PlacedEvent[]; bids: OldBid[] }>()
  for (const event of events) {
    const block = blocks.get(event.block) ?? { known: [], bids: [] }
    blocks.set(event.block, block)
    if (event.kind === 'bid') block.bids.push(event)
    else block.known.push(event)
  }
  const placed: PlacedEvent[] = []
  let last = before ?? -1n
  for (const [, { known, bids }] of [...blocks].sort(([a], [b]) => a - b)) {
    known.sort((a, b) => (a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : 0))
    const inBlock = [...known]
    for (const bid of bids) {
      const seq = freePlace(inBlock, bid, last)
      inBlock.push({ ...bid, seq })
      inBlock.sort((a, b) => (a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : 0))
    }
    placed.push(...inBlock)
    last = inBlock.reduce((most, { seq }) => (seq > most ? seq : most), last)
  }
  return placed
}

/**
 * Finds the lowest unused global sequence for a bid. The sequence is never between two events of another transaction.
 * The search starts:
 *
 * - after the last known event of the transaction of the bid, if there is one;
 * - otherwise after the previous bid on the auction in the block, if there is one;
 * - otherwise at the start of the block.
 *
 * @param inBlock events of the block of the bid, ascending by global sequence.
 * @param before greatest global sequence of the events in earlier blocks.
 */
function freePlace(inBlock: readonly PlacedEvent[], bid: OldBid, before: bigint): bigint {
  const own = inBlock.filter(({ txid }) => txid.equals(bid.txid))
  // Skip `before + 1`: the first action of each block, `onblock`, has this sequence.
  let candidate = before + 2n
  if (own.length > 0) candidate = own.at(-1)!.seq + 1n
  else if (bidsOfAuction(inBlock, bid).length > 0) candidate = bidsOfAuction(inBlock, bid).at(-1)!.seq + 1n
  for (;;) {
    const above = inBlock.find(({ seq }) => seq >= candidate)
    const below = inBlock.filter(({ seq }) => seq < candidate).at(-1)
    const isTaken = above?.seq === candidate
    const parts =
      above !== undefined &&
      below !== undefined &&
      above.txid.equals(below.txid) &&
      !above.txid.equals(bid.txid)
    if (!isTaken && !parts) return candidate
    candidate = above.seq + 1n
  }
}

function bidsOfAuction(inBlock: readonly PlacedEvent[], bid: OldBid): PlacedEvent[] {
  return inBlock.filter((event) => event.kind === 'bid' && event.auctionId === bid.auctionId)
}
