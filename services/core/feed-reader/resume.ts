import { FatalError } from '../errors/index.ts'
import { encodeCursor } from './cursor.ts'
import type { FeedCursor } from './cursor.ts'
import type { FeedEntry, FeedFork } from '../feed/index.ts'
import { newestCursor, oldestCursor, readFeed, readFeedState } from './stored-feed.ts'
import type { FeedQuery, FeedState } from './stored-feed.ts'

/** What a client missed. */
export interface MissedEntry {
  readonly entry: FeedEntry
  /** Events at the beginning of a block that have been seen already. */
  readonly seen: number
}

/** How `readMissed` reads. */
export interface ResumeOptions {
  /** Entries read at once. Default 50. */
  readonly batch?: number
  /** Called for entries that cannot be read and are skipped. */
  readonly onProblem?: (sequence: bigint, problem: unknown) => void
}

interface ForkMark {
  readonly sequence: bigint
  readonly block: number
}

/**
 * What was published since a cursor, up to now: blocks that a later fork undid are left out, and so are the forks that only
 * concern such blocks; what the client had seen of undone blocks is rolled back by one fork, which comes first. Returns
 * the cursor after all of it.
 *
 * @throws FatalError `CURSOR_TOO_OLD` when the position is no longer retained or not of this feed; `details.oldest` is the text
 *   of the oldest cursor that can be used, or null when the reader has no feed.
 */
export async function* readMissed(
  query: FeedQuery,
  cursor: FeedCursor,
  options: ResumeOptions = {},
): AsyncGenerator<MissedEntry, FeedCursor> {
  const state = await readFeedState(query, cursor.reader)
  await checkCursor(query, cursor, state)
  const end = newestCursor(cursor.reader, state!)
  const forks = await readForks(query, cursor, end.sequence)
  const fork = forkOfHolder(cursor, forks)
  if (fork) yield { entry: fork, seen: 0 }
  const undone = new UndoneBlocks(forks)
  let after = cursor.seen === null ? cursor.sequence : cursor.sequence - 1n
  while (after < end.sequence) {
    const rows = await readFeed(query, cursor.reader, after, options.batch ?? 50)
    // Pruned meanwhile: the client reads more slowly than the chain grows.
    if (rows[0]?.sequence !== after + 1n)
      throw tooOld(cursor.reader, await readFeedState(query, cursor.reader))
    for (const row of rows) {
      if (row.sequence > end.sequence) return end
      after = row.sequence
      if ('problem' in row) {
        options.onProblem?.(row.sequence, row.problem)
        continue
      }
      const entry = survivor(row.entry, undone.from(row.sequence))
      if (entry) yield { entry, seen: row.sequence === cursor.sequence ? (cursor.seen ?? 0) : 0 }
    }
  }
  return end
}

async function checkCursor(query: FeedQuery, cursor: FeedCursor, state: FeedState | null): Promise<void> {
  if (
    !state ||
    cursor.epoch !== state.epoch ||
    cursor.sequence > state.sequence ||
    cursor.sequence < state.prunedTo ||
    (cursor.sequence === state.prunedTo && cursor.seen !== null)
  )
    throw tooOld(cursor.reader, state)
  if (cursor.sequence === state.prunedTo) return
  // In a database that was restored from a backup the same number may be another entry.
  const rows = await query<{ kind: string; block_num: number }>(
    'SELECT kind, block_num FROM chain.feed WHERE reader = $1 AND sequence = $2',
    [cursor.reader, cursor.sequence],
  )
  const row = rows[0]
  if (!row) throw tooOld(cursor.reader, state)
  const view = row.kind === 'fork' ? row.block_num - 1 : row.block_num
  if (cursor.seen === null ? cursor.block < view : cursor.block !== view) throw tooOld(cursor.reader, state)
}

function tooOld(reader: string, state: FeedState | null): FatalError {
  return new FatalError('CURSOR_TOO_OLD', 'what follows this cursor is no longer retained', {
    details: { oldest: state ? encodeCursor(oldestCursor(reader, state)) : null },
  })
}

async function readForks(query: FeedQuery, cursor: FeedCursor, upTo: bigint): Promise<ForkMark[]> {
  const rows = await query<{ sequence: bigint; block_num: number }>(
    `SELECT sequence, block_num FROM chain.feed
     WHERE reader = $1 AND sequence > $2 AND sequence <= $3 AND kind = 'fork' ORDER BY sequence`,
    [cursor.reader, cursor.sequence, upTo],
  )
  return rows.map(({ sequence, block_num }) => ({ sequence, block: block_num }))
}

/**
 * The one fork that rolls back what the client has seen. Everything published between the cursor and the last fork that
 * reaches below the holder's blocks is undone itself, so this fork may come first.
 */
function forkOfHolder(cursor: FeedCursor, forks: readonly ForkMark[]): FeedFork | null {
  let view = cursor.block
  let last: ForkMark | null = null
  for (const fork of forks) {
    if (fork.block > view) continue
    view = fork.block - 1
    last = fork
  }
  if (!last) return null
  return {
    kind: 'fork',
    reader: cursor.reader,
    epoch: cursor.epoch,
    sequence: String(last.sequence),
    block_num: last.block,
  }
}

/** First block of what the forks undid. */
class UndoneBlocks {
  readonly #forks: readonly ForkMark[]
  /** Lowest block that a fork, or one after it, undid. */
  readonly #lowest: number[]
  #next = 0

  constructor(forks: readonly ForkMark[]) {
    this.#forks = forks
    this.#lowest = forks.map(({ block }) => block)
    for (let i = forks.length - 2; i >= 0; i--)
      this.#lowest[i] = Math.min(this.#lowest[i]!, this.#lowest[i + 1]!)
  }

  /** First undone block among what was published with this entry; asked for entries in order. */
  from(sequence: bigint): number {
    while (this.#next < this.#forks.length && this.#forks[this.#next]!.sequence <= sequence) this.#next++
    return this.#lowest[this.#next] ?? Infinity
  }
}

/** The entry as far as no later fork undid it; null when nothing is left of it. */
function survivor(entry: FeedEntry, undoneFrom: number): FeedEntry | null {
  if (entry.kind === 'fork') return null
  if (entry.kind === 'block') return entry.block.num < undoneFrom ? entry : null
  if (entry.to_block < undoneFrom) return entry
  const isUndone = entry.from_block !== null && entry.from_block >= undoneFrom
  return isUndone ? null : { ...entry, to_block: undoneFrom - 1 }
}
