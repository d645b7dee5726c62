import { FatalError } from '../errors/index.ts'
import type { FeedEntry } from '../feed/index.ts'

/** A client's position in a reader's feed, between two events. */
export interface FeedCursor {
  readonly reader: string
  readonly epoch: number
  /** Sequence number of the last feed entry that the client has received, at least in part. */
  readonly sequence: bigint
  /** How many events of the entry `sequence` the client has received; null if the client has received all events. */
  readonly seen: number | null
  /** Highest block of which the client has seen events. A fork at or below this block affects the client. */
  readonly block: number
}

const CURSOR = /^1\.(\d{1,15})\.(\d{1,19})\.(\d{0,9})\.(\d{1,10})\.(.{1,256})$/s

/** Maximum length of an encoded cursor. */
const MAX_CURSOR_CHARACTERS = 512

/** Encodes a cursor for clients: opaque and URL-safe. */
export function encodeCursor({ epoch, sequence, seen, block, reader }: FeedCursor): string {
  return Buffer.from(`1.${epoch}.${sequence}.${seen ?? ''}.${block}.${reader}`).toString('base64url')
}

/**
 * Decodes a client's cursor.
 * @throws FatalError `CURSOR_INVALID`
 */
export function decodeCursor(text: string): FeedCursor {
  const isShort = text.length <= MAX_CURSOR_CHARACTERS && /^[\w-]+$/.test(text)
  const parts = isShort ? CURSOR.exec(Buffer.from(text, 'base64url').toString()) : null
  if (!parts) throw new FatalError('CURSOR_INVALID', 'the value is not a cursor')
  return {
    epoch: Number(parts[1]),
    sequence: BigInt(parts[2]!),
    seen: parts[3] === '' ? null : Number(parts[3]),
    block: Number(parts[4]),
    reader: parts[5]!,
  }
}

/** The cursor after an entry, or after the first `seen` events of a block. */
export function cursorAfter(entry: FeedEntry, seen: number | null = null): FeedCursor {
  const { reader, epoch } = entry
  return { reader, epoch, sequence: BigInt(entry.sequence), seen, block: viewAfter(entry) }
}

/** Highest block that a client has seen after an entry. */
export function viewAfter(entry: FeedEntry): number {
  switch (entry.kind) {
    case 'block':
      return entry.block.num
    case 'fork':
      return entry.block_num - 1
    case 'gap':
      return entry.to_block
  }
}
