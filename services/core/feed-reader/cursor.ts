import { FatalError } from '../errors/index.ts'
import type { FeedEntry } from '../feed/index.ts'

/** A place in a reader's feed, between two events. */
export interface FeedCursor {
  readonly reader: string
  readonly epoch: number
  /** The entry that was reached. */
  readonly sequence: bigint
  /** Events of it that were seen; null for the whole entry. */
  readonly seen: number | null
  /** Highest block of which anything was seen; a fork at or below it concerns the holder. */
  readonly block: number
}

const CURSOR = /^1\.(\d{1,15})\.(\d{1,19})\.(\d{0,9})\.(\d{1,10})\.(.{1,256})$/s

/** Most characters of a cursor's text. */
const MAX_CURSOR_CHARACTERS = 512

/** A cursor as clients hold it: opaque, safe in an address. */
export function encodeCursor({ epoch, sequence, seen, block, reader }: FeedCursor): string {
  return Buffer.from(`1.${epoch}.${sequence}.${seen ?? ''}.${block}.${reader}`).toString('base64url')
}

/** Reads a client's cursor. @throws FatalError `CURSOR_INVALID` */
export function decodeCursor(text: string): FeedCursor {
  const isShort = text.length <= MAX_CURSOR_CHARACTERS && /^[\w-]+$/.test(text)
  const parts = isShort ? CURSOR.exec(Buffer.from(text, 'base64url').toString()) : null
  if (!parts) throw new FatalError('CURSOR_INVALID', 'this is no cursor')
  return {
    epoch: Number(parts[1]),
    sequence: BigInt(parts[2]!),
    seen: parts[3] === '' ? null : Number(parts[3]),
    block: Number(parts[4]),
    reader: parts[5]!,
  }
}

/** The place after an entry, or after the first `seen` events of a block. */
export function cursorAfter(entry: FeedEntry, seen: number | null = null): FeedCursor {
  const { reader, epoch } = entry
  return { reader, epoch, sequence: BigInt(entry.sequence), seen, block: viewAfter(entry) }
}

/** Highest block that a client has seen after this entry. */
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
