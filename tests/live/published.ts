import type pg from 'pg'
import { eventCatalogue, eventOfAction } from '../../services/core/live/index.ts'
import { readFeed } from '../../services/core/feed-reader/stored-feed.ts'
import type { FeedBlock, FeedEntry } from '../../services/core/feed/index.ts'
import type { FeedQuery } from '../../services/core/feed-reader/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { testSettings } from '../integration/index-chain.ts'

/** Reads the feed on a connection of its own, as the API does. */
export interface FeedReader {
  readonly query: FeedQuery
  close(): Promise<void>
}

/** Opens a database connection that reads the feed. */
export async function openFeedReader(address: DatabaseAddress): Promise<FeedReader> {
  const client = await connectDatabase(address, { applicationName: 'test feed' })
  return { query: queryOf(client), close: () => client.end() }
}

function queryOf(client: pg.Client): FeedQuery {
  return async <T extends object>(text: string, values: readonly unknown[]) => {
    const { rows } = await client.query<T & pg.QueryResultRow>(text, [...values])
    return rows
  }
}

/** Reads all stored entries in order. Throws if an entry cannot be decoded or a number is missing. */
export async function readEntries(query: FeedQuery, reader = testSettings.name): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = []
  for (let after = 0n; ;) {
    const rows = await readFeed(query, reader, after, 200)
    for (const row of rows) {
      if ('problem' in row) throw row.problem
      if (after > 0n && row.sequence !== after + 1n) throw new Error(`entry ${after + 1n} is missing`)
      after = row.sequence
      entries.push(row.entry)
    }
    if (rows.length === 0) return entries
  }
}

/** Returns the published blocks that no later fork has undone. */
export function survivingBlocks(entries: readonly FeedEntry[]): FeedBlock[] {
  let blocks: FeedBlock[] = []
  for (const entry of entries) {
    if (entry.kind === 'block') blocks.push(entry)
    if (entry.kind === 'fork') blocks = blocks.filter(({ block }) => block.num < entry.block_num)
  }
  return blocks
}

/** Formats each event as a line: global sequence, family, action, id. */
export function eventLines(blocks: readonly FeedBlock[]): string[] {
  return blocks.flatMap(({ transactions, events }) =>
    events.map(({ family, id, transaction, trace }) => {
      const { global_sequence, name } = transactions[transaction]!.traces[trace]!
      return `${global_sequence} ${family} ${name} ${id}`
    }),
  )
}

/**
 * Actions whose entity ids contain a collection name: the tables store no such text, so ids of these events are not
 * compared.
 */
const textIds = new Set(
  eventCatalogue.filter(({ id }) => id.includes('collection_name')).map(({ action }) => action),
)

const TABLES = `
  SELECT minted_seq AS seq, 'assets' AS family, 'logmint' AS action, asset_id::text AS id FROM assets.assets
  UNION ALL SELECT transfer_id, 'assets', 'logtransfer', transfer_id::text FROM assets.transfers
  UNION ALL SELECT l.seq, 'assets', a.name, l.subject::text FROM assets.logs l JOIN assets.log_actions a USING (action)
  UNION ALL SELECT l.seq, 'market', a.name, l.subject::text FROM market.logs l JOIN market.log_actions a USING (action)
  UNION ALL SELECT seq, 'market', 'auctionbid', auction_id::text FROM market.bids
  UNION ALL SELECT l.seq, 'tools', a.name, l.subject::text FROM tools.logs l JOIN tools.log_actions a USING (action)`

/** Returns a line for each stored action after a global sequence, in the format of `comparable`. */
export async function tableLines(query: FeedQuery, after: bigint): Promise<string[]> {
  const rows = await query<{ seq: bigint; family: string; action: string; id: string }>(
    `SELECT * FROM (${TABLES}) t WHERE seq > $1 ORDER BY seq`,
    [after],
  )
  return rows.flatMap(({ seq, family, action, id }) => {
    if (!eventOfAction(family, action)) return []
    return [`${seq} ${family} ${action} ${textIds.has(action) ? '' : id}`]
  })
}

/** Removes from event lines the ids that the tables store in another form. */
export function comparable(lines: readonly string[]): string[] {
  return lines.map((line) => {
    const [seq, family, action, id] = line.split(' ') as [string, string, string, string]
    return `${seq} ${family} ${action} ${textIds.has(action) ? '' : id}`
  })
}

/** Newest global sequence in the tables. */
export async function newestSequence(query: FeedQuery): Promise<bigint> {
  const rows = await query<{ newest: bigint | null }>(`SELECT max(seq) AS newest FROM (${TABLES}) t`, [])
  return rows[0]?.newest ?? 0n
}
