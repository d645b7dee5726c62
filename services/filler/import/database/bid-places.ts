import type { OldBid, OldEventRow } from './event-window.ts'

/** An event with a global sequence. The sequence of a bid is invented, because the source database stores none. */
export type PlacedEvent =
  (OldEventRow & { readonly seq: bigint }) | (Omit<OldBid, 'seq'> & { readonly seq: bigint })

/**
 * Sorts events by global sequence. The source database stores no global sequence of bids, so each bid gets a free
 * number: above all events of earlier blocks, below all events of later blocks. There is room because the chain spends
 * at least one number on every block and every bid. Block, transaction and the order of an auction's bids are correct;
 * only the number differs from the chain.
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
 * Lowest free sequence for a bid that splits no transaction: after the events of its own transaction if any are known,
 * otherwise between two other transactions.
 */
function freePlace(inBlock: readonly PlacedEvent[], bid: OldBid, before: bigint): bigint {
  const own = inBlock.filter(({ txid }) => txid.equals(bid.txid))
  // The `onblock` action at the start of each block has the global sequence `before + 1`.
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
