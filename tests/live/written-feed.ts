import type pg from 'pg'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'
import { encodeFeedMessage, feedChannel } from '../../services/core/feed/index.ts'
import { eventCatalogue } from '../../services/core/live/index.ts'
import { packFeedText } from '../../services/core/feed-reader/index.ts'
import type { FeedBlock, FeedEntry, FeedEvent, FeedKeys, FeedTrace } from '../../services/core/feed/index.ts'

/** Description of an event to publish. */
export interface WantedEvent {
  /** Contract action, such as `logmint`. */
  readonly action: string
  readonly id: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly keys?: FeedKeys
}

const accounts = { assets: 'atomicassets', market: 'atomicmarket', tools: 'atomictoolsx' } as const

/** Writes a reader's feed by hand: stores each entry, then publishes it, as the filler does. */
export class WrittenFeed {
  readonly reader: string
  /** Whether entries are stored but not published, as if the bus had lost them. */
  isBusAway = false
  readonly #client: pg.Client
  readonly #kvstore: KeyValueStore
  readonly #epoch = 1_700_000_000_000
  #sequence = 0
  #nextAction = 5_000

  private constructor(client: pg.Client, kvstore: KeyValueStore, reader: string) {
    this.#client = client
    this.#kvstore = kvstore
    this.reader = reader
  }

  static async open(
    address: DatabaseAddress,
    kvstore: KeyValueStore,
    reader = 'main-1',
  ): Promise<WrittenFeed> {
    const client = await connectDatabase(address, { applicationName: 'test feed' })
    const feed = new WrittenFeed(client, kvstore, reader)
    await client.query('INSERT INTO chain.feeds VALUES ($1, $2, 0, 0, 0)', [reader, feed.#epoch])
    return feed
  }

  /** Sequence number of the newest entry of the feed. */
  get sequence(): number {
    return this.#sequence
  }

  /** Publishes a block. Each event has its own transaction, or all events share one transaction. */
  async block(num: number, wanted: readonly WantedEvent[], isOneTransaction = false): Promise<FeedBlock> {
    const traces = wanted.map((each, at) => this.#trace(each, isOneTransaction ? at + 1 : 1))
    const transactionsOf = isOneTransaction ? [traces] : traces.map((trace) => [trace])
    const entry: FeedBlock = {
      ...this.#head('block'),
      block: { num, id: idOf(num), time: 1_700_000_000_000 + num * 500, producer: 'producer1' },
      transactions: transactionsOf.map((own) => ({
        id: idOf(Number(own[0]!.global_sequence)),
        cpu_usage_us: 100,
        net_usage_words: 10,
        traces: own,
      })),
      events: wanted.map((each, at) => eventOf(each, isOneTransaction ? 0 : at, isOneTransaction ? at : 0)),
    }
    await this.#write(entry, num)
    return entry
  }

  async fork(block_num: number): Promise<void> {
    await this.#write({ ...this.#head('fork'), block_num }, block_num)
  }

  async gap(from_block: number, to_block: number): Promise<void> {
    await this.#write({ ...this.#head('gap'), from_block, to_block }, to_block)
  }

  /** Publishes a message about the reader's progress. The feed does not store such messages. */
  async lag(behind: number): Promise<void> {
    const { reader } = this
    const lag = { kind: 'lag', reader, epoch: this.#epoch, sequence: String(this.#sequence) } as const
    await this.#publish(
      encodeFeedMessage({ ...lag, block_num: 1_000, head_block: 1_000 + behind, behind, live: behind < 60 }),
    )
  }

  /** Deletes the entries of the feed up to a sequence number. */
  async prune(upTo: number): Promise<void> {
    await this.#client.query('DELETE FROM chain.feed WHERE reader = $1 AND sequence <= $2', [
      this.reader,
      upTo,
    ])
    await this.#client.query('UPDATE chain.feeds SET pruned_to = $2 WHERE reader = $1', [this.reader, upTo])
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  #head<K extends string>(kind: K): { kind: K; reader: string; epoch: number; sequence: string } {
    return { kind, reader: this.reader, epoch: this.#epoch, sequence: String(++this.#sequence) }
  }

  #trace({ action, data }: WantedEvent, ordinal: number): FeedTrace {
    const account = accounts[entryOf(action).family]
    return {
      action_ordinal: ordinal,
      creator_action_ordinal: 0,
      global_sequence: String(this.#nextAction++),
      account,
      name: action,
      authorization: [{ actor: account, permission: 'active' }],
      data: data ?? {},
    }
  }

  async #write(entry: FeedEntry, blockNum: number): Promise<void> {
    const id = entry.kind === 'block' ? Buffer.from(entry.block.id, 'hex') : null
    await this.#client.query('BEGIN')
    await this.#client.query('INSERT INTO chain.feed VALUES ($1, $2, $3, $4, $5, $6)', [
      ...[this.reader, entry.sequence, entry.kind, blockNum, id, packFeedText(encodeFeedMessage(entry))],
    ])
    const toldTo = entry.kind === 'fork' ? blockNum - 1 : blockNum
    await this.#client.query('UPDATE chain.feeds SET sequence = $2, told_to = $3 WHERE reader = $1', [
      ...[this.reader, entry.sequence, toldTo],
    ])
    await this.#client.query('COMMIT')
    await this.#publish(encodeFeedMessage(entry))
  }

  async #publish(text: string): Promise<void> {
    if (!this.isBusAway) await this.#kvstore.publish(feedChannel(this.reader), text)
  }
}

function entryOf(action: string) {
  const entry = eventCatalogue.find((each) => each.action === action)
  if (!entry) throw new Error(`no event has the action ${action}`)
  return entry
}

function eventOf({ action, id, keys = {} }: WantedEvent, transaction: number, trace: number): FeedEvent {
  const { family, event } = entryOf(action)
  return { contract: accounts[family], family, event, id, transaction, trace, keys }
}

/** Block or transaction id from a number, 64 hexadecimal digits. */
function idOf(num: number): string {
  return num.toString(16).padStart(8, '0').padEnd(64, 'a')
}
