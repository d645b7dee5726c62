import { encodeFeedMessage } from '../../core/feed/index.ts'
import { packFeedText, readFeedState } from '../../core/feed-reader/index.ts'
import type { FeedEntry } from '../../core/feed/index.ts'
import type { FeedQuery, FeedState } from '../../core/feed-reader/index.ts'
import type { Statements } from '../store/index.ts'
import type { BlockEvents } from './capture.ts'

/** Events of a commit unit. */
export interface UnitEvents {
  /** Whether its blocks are published. */
  readonly isPublished: boolean
  /** Published events by block, in order. */
  readonly blocks: BlockEvents[]
  /** Whether the reader reached the head with the last of its blocks. */
  arrived: boolean
}

/** An entry that was written, with its message. */
export interface WrittenEntry {
  readonly entry: FeedEntry
  readonly text: string
  readonly storedBytes: number
}

/** Content of an entry, without its position. */
type EntryContent =
  | ({ readonly kind: 'block' } & BlockEvents)
  | { readonly kind: 'fork'; readonly block_num: number }
  | { readonly kind: 'gap'; readonly from_block: number; readonly to_block: number }

interface PackedEntry extends WrittenEntry {
  readonly message: Buffer
}

/** Entries pruned with one commit at most, so that none takes long. */
const MAX_PRUNED = 5_000
/** Pruning waits until so many blocks are worth it, or a tenth of what is retained. */
const PRUNE_EVERY_BLOCKS = 500

/**
 * The feed of one reader as it is written: entries and position in the transactions of the blocks that they belong to, so
 * that an entry is there exactly when its block was committed.
 */
export class Outbox {
  readonly #reader: string
  readonly #retainedBlocks: number
  #current: FeedState | null
  /** State of the feed at the end of the open transaction, with its written entries. */
  #next: FeedState | null = null
  #written: PackedEntry[] = []
  #prunedAtBlock = 0
  #nextPrunedAtBlock = 0

  private constructor(reader: string, retainedBlocks: number, state: FeedState | null) {
    this.#reader = reader
    this.#retainedBlocks = retainedBlocks
    this.#current = state
  }

  /** Reads the reader's position in the feed. `retainedBlocks`: number of blocks after which clients can still resume. */
  static async open(query: FeedQuery, reader: string, retainedBlocks: number): Promise<Outbox> {
    return new Outbox(reader, retainedBlocks, await readFeedState(query, reader))
  }

  /** Position of the feed; null before the reader first reached the head. */
  get state(): FeedState | null {
    return this.#current
  }

  /** Writes the entries of a unit; `last` is its last block. */
  async writeUnit(statements: Statements, events: UnitEvents, last: number): Promise<void> {
    if (!events.isPublished && !events.arrived) return
    const state = this.#begin(last)
    if (events.isPublished) {
      for (const block of events.blocks) this.#add({ kind: 'block', ...block })
      await this.#prune(statements, last)
    } else if (state.toldTo < last) this.#add({ kind: 'gap', from_block: state.toldTo + 1, to_block: last })
    await this.#write(statements, last)
  }

  /** Writes the rollback of every block from `from` on, if any of these were published. */
  async writeFork(statements: Statements, from: number): Promise<void> {
    if (!this.#current || this.#current.toldTo < from) return
    this.#begin(from)
    this.#add({ kind: 'fork', block_num: from })
    await this.#write(statements, from - 1)
  }

  /** After the commit: the entries to send now. */
  settle(): readonly WrittenEntry[] {
    const written = this.#written
    if (this.#next) this.#current = this.#next
    this.#prunedAtBlock = this.#nextPrunedAtBlock
    this.#next = null
    this.#written = []
    return written
  }

  /** The position to continue from; a new feed has published nothing up to `toldTo`. */
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

  /** Writes the entries and the position: one statement for a single block, which is the usual unit. */
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

  /** Drops entries of old blocks, many at once and not with every commit. */
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
    // Remaining entries, after `feed_blocks` was lowered, are pruned with the next commits.
    if (newest < prunedTo + BigInt(MAX_PRUNED)) this.#nextPrunedAtBlock = last
  }
}

const UPSERT_PLACE = `
  INSERT INTO chain.feeds (reader, epoch, sequence, pruned_to, told_to) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (reader) DO UPDATE SET sequence = EXCLUDED.sequence, pruned_to = EXCLUDED.pruned_to, told_to = EXCLUDED.told_to`

/** `$1` is the reader; the other columns are the parameters from `first` on. */
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

/** Drops a reader's feed: earlier cursors are too old, and what is indexed again was not published. */
export async function wipeFeed(statements: Statements, reader: string): Promise<void> {
  await statements.run('DELETE FROM chain.feed WHERE reader = $1', [reader])
  await statements.run(
    'UPDATE chain.feeds SET sequence = sequence + 1, pruned_to = sequence + 1, told_to = 0 WHERE reader = $1',
    [reader],
  )
}
