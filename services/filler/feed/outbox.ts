import { encodeFeedMessage } from '../../core/feed/index.ts'
import { packFeedText, readFeedState } from '../../core/feed-reader/index.ts'
import type { FeedEntry } from '../../core/feed/index.ts'
import type { FeedQuery, FeedState } from '../../core/feed-reader/index.ts'
import type { Statements } from '../store/index.ts'
import type { BlockEvents } from './capture.ts'

/** Events of a commit unit. */
export interface UnitEvents {
  /** Whether the blocks of the unit are published. */
  readonly isPublished: boolean
  /** Published events by block, in order. */
  readonly blocks: BlockEvents[]
  /** Whether the reader reached the head with the last block of the unit. */
  arrived: boolean
}

/** A feed entry that was written, with its message text. */
export interface WrittenEntry {
  readonly entry: FeedEntry
  readonly text: string
  readonly storedBytes: number
}

/** Content of a feed entry, without its position. */
type EntryContent =
  | ({ readonly kind: 'block' } & BlockEvents)
  | { readonly kind: 'fork'; readonly block_num: number }
  | { readonly kind: 'gap'; readonly from_block: number; readonly to_block: number }

interface PackedEntry extends WrittenEntry {
  readonly message: Buffer
}

/** Maximum number of entries pruned in one commit, so that no commit takes long. */
const MAX_PRUNED = 5_000
/**
 * Maximum number of blocks between two prunings; a tenth of the retained blocks if that is fewer. One large
 * deletion is cheaper than many small deletions.
 */
const PRUNE_EVERY_BLOCKS = 500

/**
 * Writes the feed of one reader. Entries and position are written in the transaction of their block, so an entry
 * exists exactly if its block is committed.
 */
export class Outbox {
  readonly #reader: string
  readonly #retainedBlocks: number
  #current: FeedState | null
  /** State of the feed as of the end of the open transaction. */
  #next: FeedState | null = null
  #written: PackedEntry[] = []
  #prunedAtBlock = 0
  #nextPrunedAtBlock = 0

  private constructor(reader: string, retainedBlocks: number, state: FeedState | null) {
    this.#reader = reader
    this.#retainedBlocks = retainedBlocks
    this.#current = state
  }

  /**
   * Reads the reader's position in the feed. `retainedBlocks` is the number of blocks within which clients can resume.
   */
  static async open(query: FeedQuery, reader: string, retainedBlocks: number): Promise<Outbox> {
    return new Outbox(reader, retainedBlocks, await readFeedState(query, reader))
  }

  /** Position of the feed; null before the reader first reached the head. */
  get state(): FeedState | null {
    return this.#current
  }

  /** Writes the feed entries of a commit unit; `last` is the unit's last block. */
  async writeUnit(statements: Statements, events: UnitEvents, last: number): Promise<void> {
    if (!events.isPublished && !events.arrived) return
    const state = this.#begin(last)
    if (events.isPublished) {
      for (const block of events.blocks) this.#add({ kind: 'block', ...block })
      await this.#prune(statements, last)
    } else if (state.toldTo < last) this.#add({ kind: 'gap', from_block: state.toldTo + 1, to_block: last })
    await this.#write(statements, last)
  }

  /** Writes a fork entry if block `from` or a later one was published. */
  async writeFork(statements: Statements, from: number): Promise<void> {
    if (!this.#current || this.#current.toldTo < from) return
    this.#begin(from)
    this.#add({ kind: 'fork', block_num: from })
    await this.#write(statements, from - 1)
  }

  /** Takes over the state of the feed after the commit, and returns the feed entries to send. */
  settle(): readonly WrittenEntry[] {
    const written = this.#written
    if (this.#next) this.#current = this.#next
    this.#prunedAtBlock = this.#nextPrunedAtBlock
    this.#next = null
    this.#written = []
    return written
  }

  /**
   * Copies the committed state of the feed for the open transaction. A new feed starts after block `toldTo`;
   * the blocks up to `toldTo` count as not published.
   */
  #begin(toldTo: number): FeedState {
    this.#next = this.#current ?? { epoch: Date.now(), sequence: 0n, prunedTo: 0n, toldTo }
    this.#written = []
    return this.#next
  }

  #add(content: EntryContent): void {
    const state = this.#next!
    const sequence = state.sequence + 1n
    const reader = this.#reader
    const entry: FeedEntry = { ...content, reader, epoch: state.epoch, sequence: String(sequence) }
    const text = encodeFeedMessage(entry)
    const message = packFeedText(text)
    this.#next = { ...state, sequence }
    this.#written.push({ entry, text, message, storedBytes: message.length })
  }

  /**
   * Writes the feed entries and the position of the feed. A unit with one entry, the usual case, needs a single
   * statement.
   */
  async #write(statements: Statements, toldTo: number): Promise<void> {
    const { epoch, sequence, prunedTo } = (this.#next = { ...this.#next!, toldTo })
    const place = [this.#reader, epoch, sequence, prunedTo, toldTo]
    const entries = [...this.#written]
    const last = entries.pop()
    for (const written of entries) await statements.run(insertEntry(2), [this.#reader, ...columnsOf(written)])
    if (last)
      await statements.run(`WITH entry AS (${insertEntry(place.length + 1)}) ${UPSERT_PLACE}`, [
        ...place,
        ...columnsOf(last),
      ])
    else await statements.run(UPSERT_PLACE, place)
  }

  /** Deletes the feed entries of old blocks, in batches rather than with every commit. */
  async #prune(statements: Statements, last: number): Promise<void> {
    const step = Math.max(1, Math.min(PRUNE_EVERY_BLOCKS, Math.floor(this.#retainedBlocks / 10)))
    if (last - this.#prunedAtBlock < step) return
    const { prunedTo } = this.#next!
    const rows = await statements.select<{ newest: bigint | null }>(
      'SELECT max(sequence) AS newest FROM chain.feed WHERE reader = $1 AND block_num <= $2 AND sequence <= $3',
      [this.#reader, last - this.#retainedBlocks, prunedTo + BigInt(MAX_PRUNED)],
    )
    const newest = rows[0]?.newest ?? prunedTo
    if (newest > prunedTo) {
      await statements.run('DELETE FROM chain.feed WHERE reader = $1 AND sequence <= $2', [
        this.#reader,
        newest,
      ])
      this.#next = { ...this.#next!, prunedTo: newest }
    }
    // More entries may be left after `feed_blocks` was lowered. The next commits prune the remaining entries.
    if (newest < prunedTo + BigInt(MAX_PRUNED)) this.#nextPrunedAtBlock = last
  }
}

const UPSERT_PLACE = `
  INSERT INTO chain.feeds (reader, epoch, sequence, pruned_to, told_to) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (reader) DO UPDATE SET sequence = EXCLUDED.sequence, pruned_to = EXCLUDED.pruned_to, told_to = EXCLUDED.told_to`

/** INSERT of an entry. `$1` is the reader; the other columns are the parameters from `first` on. */
function insertEntry(first: number): string {
  const columns = ['$1', ...[0, 1, 2, 3, 4].map((i) => `$${first + i}`)].join(', ')
  return `INSERT INTO chain.feed (reader, sequence, kind, block_num, block_id, message) VALUES (${columns})`
}

function columnsOf({ entry, message }: PackedEntry): unknown[] {
  const { sequence, kind } = entry
  switch (kind) {
    case 'block':
      return [sequence, kind, entry.block.num, Buffer.from(entry.block.id, 'hex'), message]
    case 'fork':
      return [sequence, kind, entry.block_num, null, message]
    case 'gap':
      return [sequence, kind, entry.to_block, null, message]
  }
}

/** Deletes a reader's feed. Cursors of clients become too old, and re-indexed blocks count as not published. */
export async function wipeFeed(statements: Statements, reader: string): Promise<void> {
  await statements.run('DELETE FROM chain.feed WHERE reader = $1', [reader])
  await statements.run(
    'UPDATE chain.feeds SET sequence = sequence + 1, pruned_to = sequence + 1, told_to = 0 WHERE reader = $1',
    [reader],
  )
}
