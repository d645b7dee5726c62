import { promisify } from 'node:util'
import { deflateRawSync, inflateRaw } from 'node:zlib'
import type { FeedCursor } from './cursor.ts'
import { decodeFeedEntry } from '../feed/index.ts'
import type { FeedEntry } from '../feed/index.ts'

/** Runs a read on the database that the filler writes to; 64-bit integers come back as bigint. */
export type FeedQuery = <T extends object>(text: string, values: readonly unknown[]) => Promise<T[]>

/** How far a reader's feed is. */
export interface FeedState {
  readonly epoch: number
  /** Newest entry; 0 when there is none. */
  readonly sequence: bigint
  /** Newest entry that is no longer retained. */
  readonly prunedTo: bigint
  /** Block up to which everything is published. */
  readonly toldTo: number
}

/** An entry as it is stored: what cannot be read has a `problem` instead. */
export type StoredEntry =
  | { readonly sequence: bigint; readonly entry: FeedEntry; readonly characters: number }
  | { readonly sequence: bigint; readonly problem: unknown }

/** Longest message that is read back, in bytes of JSON. */
const MAX_STORED_BYTES = 512 * 1024 * 1024
/** No entry is read together with this much of entries before it, bytes as stored. */
const MAX_READ_BYTES = 1024 * 1024
/** Fastest level that still finds what repeats within a block. */
const DEFLATE_LEVEL = 3

const inflate = promisify(inflateRaw)

/** The text of an entry as it is stored. */
export function packFeedText(text: string): Buffer {
  return deflateRawSync(text, { level: DEFLATE_LEVEL })
}

/** How far a reader's feed is; null before the reader first reached the head. */
export async function readFeedState(query: FeedQuery, reader: string): Promise<FeedState | null> {
  const rows = await query<{ epoch: bigint; sequence: bigint; pruned_to: bigint; told_to: number }>(
    'SELECT epoch, sequence, pruned_to, told_to FROM chain.feeds WHERE reader = $1',
    [reader],
  )
  const row = rows[0]
  return row
    ? {
        epoch: Number(row.epoch),
        sequence: row.sequence,
        prunedTo: row.pruned_to,
        toldTo: row.told_to,
      }
    : null
}

/** The position after everything published so far. */
export function newestCursor(reader: string, state: FeedState): FeedCursor {
  return { reader, epoch: state.epoch, sequence: state.sequence, seen: null, block: state.toldTo }
}

/** The position before everything retained; a client that starts there is not concerned by any fork. */
export function oldestCursor(reader: string, state: FeedState): FeedCursor {
  return { reader, epoch: state.epoch, sequence: state.prunedTo, seen: null, block: 0 }
}

/** Entries after `after`, in order: at most `limit`, and fewer when they are large, but one at least. */
export async function readFeed(
  query: FeedQuery,
  reader: string,
  after: bigint,
  limit: number,
): Promise<StoredEntry[]> {
  const rows = await query<{ sequence: bigint; message: Buffer }>(
    `SELECT sequence, message FROM (
       SELECT sequence, message, sum(octet_length(message)) OVER (ORDER BY sequence) - octet_length(message) AS before
       FROM (SELECT sequence, message FROM chain.feed WHERE reader = $1 AND sequence > $2 ORDER BY sequence LIMIT $3) f
     ) f WHERE before < $4 ORDER BY sequence`,
    [reader, after, limit, MAX_READ_BYTES],
  )
  return Promise.all(rows.map((row) => unpack(row)))
}

async function unpack({ sequence, message }: { sequence: bigint; message: Buffer }): Promise<StoredEntry> {
  try {
    const bytes = await inflate(message, { maxOutputLength: MAX_STORED_BYTES })
    const text = bytes.toString()
    return { sequence, entry: decodeFeedEntry(text), characters: text.length }
  } catch (problem) {
    return { sequence, problem }
  }
}
