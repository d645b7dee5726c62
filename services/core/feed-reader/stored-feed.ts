import { promisify } from 'node:util'
import { deflateRawSync, inflateRaw } from 'node:zlib'
import type { FeedCursor } from './cursor.ts'
import { decodeFeedEntry } from '../feed/index.ts'
import type { FeedEntry } from '../feed/index.ts'

/** Runs a read on the primary database; 64-bit integers are returned as bigint. */
export type FeedQuery = <T extends object>(text: string, values: readonly unknown[]) => Promise<T[]>

/** First and last positions of the stored part of a reader's feed. */
export interface FeedState {
  readonly epoch: number
  /** Sequence number of the newest feed entry; 0 if the feed has no entry. */
  readonly sequence: bigint
  /** Sequence number of the newest entry that was deleted because of its age. */
  readonly prunedTo: bigint
  /** Number of the last block whose events were published. */
  readonly toldTo: number
}

/** A stored entry. An entry that cannot be decoded is replaced by a `problem`. */
export type StoredEntry =
  | { readonly sequence: bigint; readonly entry: FeedEntry; readonly characters: number }
  | { readonly sequence: bigint; readonly problem: unknown }

/** Maximum size of a feed entry in bytes of JSON. */
const MAX_STORED_BYTES = 512 * 1024 * 1024
/**
 * Maximum compressed bytes of the entries that one read returns. The read also returns the entry that exceeds the
 * limit, as its last entry. Few entries are returned if the entries are large.
 */
const MAX_READ_BYTES = 1024 * 1024
/** Fastest deflate level that still finds repeated strings in the entry of a chain block. */
const DEFLATE_LEVEL = 3

const inflate = promisify(inflateRaw)

/** Compresses the text of an entry for storage. */
export function packFeedText(text: string): Buffer {
  return deflateRawSync(text, { level: DEFLATE_LEVEL })
}

/** Reads the first and last positions of a reader's feed; null before the reader first reached the head. */
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

/** The cursor after everything published so far. */
export function newestCursor(reader: string, state: FeedState): FeedCursor {
  return { reader, epoch: state.epoch, sequence: state.sequence, seen: null, block: state.toldTo }
}

/**
 * The cursor before the oldest stored entry. The cursor's block is 0, because no fork affects a client that starts
 * there.
 */
export function oldestCursor(reader: string, state: FeedState): FeedCursor {
  return { reader, epoch: state.epoch, sequence: state.prunedTo, seen: null, block: 0 }
}

/**
 * Reads entries after the sequence number `after`, in order: at least one, at most `limit`, fewer if the
 * entries are large.
 */
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
