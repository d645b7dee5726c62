import type { EventEntry, EventFamily } from '../../core/live/index.ts'
import type { FeedCursor } from '../../core/feed-reader/index.ts'
import type { Namespace } from '../endpoint/index.ts'
import type { BlockEvents } from './block-events.ts'
import type { LiveClient, Subscription } from './client.ts'
import { FilterIndex } from './filter-index.ts'
import type { SharedFilter } from './filter-index.ts'
import type { LiveEvent, PlacedEvent } from './live-event.ts'
import type { LiveObserver } from './observer.ts'
import type { Format, Outgoing } from './outgoing.ts'
import { SocketPayloads } from './socket-payload.ts'
import { forEachYielding } from '../../core/http/index.ts'

/** A namespace whose events are published. */
export interface ChannelMount {
  readonly namespace: Namespace
  readonly family: EventFamily
  /** Account of the contract. */
  readonly contract: string
  /** URL prefixes of the namespace. */
  readonly paths: readonly string[]
  /** `connected_reader` of the namespace's configuration. If undefined, the namespace publishes no events. */
  readonly reader: string | undefined
  /** `socket_features.asset_update` of the namespace's configuration. */
  readonly assetUpdate: boolean
}

/** A further subscriber of a namespace's events with a protocol of its own (socket.io). */
export interface Listener {
  /** Whether a client of the listener is subscribed to the events that `entry` describes. */
  wants(entry: EventEntry): boolean
  /** Sends events of a block to the clients of the listener, in block order. */
  publish(events: readonly LiveEvent[], payloads: SocketPayloads): Promise<void>
  /** Notifies the clients of the listener that the blocks from `blockNum` on were rolled back. */
  publishFork(blockNum: number): Promise<void>
}

export interface ChannelOptions {
  readonly mount: ChannelMount
  readonly maxQueueBytes: number
  readonly observer: LiveObserver
  /** Sends a client all events after the client's position, as fast as the client reads them. */
  readonly resume: (channel: Channel, client: LiveClient) => void
}

/**
 * Live clients of one namespace. Tracks the position up to which events are published, and writes events to the
 * clients.
 */
export class Channel {
  readonly mount: ChannelMount
  /** Index of the subscriptions of all clients, by filter. */
  readonly index = new FilterIndex<Subscription>()
  readonly #options: ChannelOptions
  readonly #clients = new Set<LiveClient>()
  readonly #listeners: Listener[] = []
  /** Live clients that have not yet been sent the entry that is being published. */
  readonly #pending = new Set<LiveClient>()
  /** Position after the last published entry of the feed. */
  #position: FeedCursor | undefined
  /** Position before the last published entry of the feed. */
  #before: FeedCursor | undefined

  constructor(options: ChannelOptions) {
    this.mount = options.mount
    this.#options = options
  }

  /** Bytes that are buffered for clients which have not read them yet. */
  get waitingBytes(): number {
    let bytes = 0
    for (const { connection } of this.#clients) bytes += connection.waitingBytes
    return bytes
  }

  add(client: LiveClient): void {
    this.#clients.add(client)
  }

  remove(client: LiveClient): void {
    this.#clients.delete(client)
    this.#pending.delete(client)
    for (const subscription of client.subscriptions.values())
      this.index.remove(subscription.filter, subscription)
  }

  /** Adds a listener, which receives every block with events that the listener wants. */
  listen(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** Position after the last published entry of the feed; undefined while the reader has no feed. */
  get position(): FeedCursor | undefined {
    return this.#position
  }

  /** Sets the published position. The caller then publishes the entry that ends at this position. */
  moveTo(position: FeedCursor | undefined): void {
    this.#before = this.#position
    this.#position = position
  }

  /**
   * Feed position of a live client. While an entry is being published, a client that has not been sent the entry is at
   * the position before the entry.
   */
  placeOf(client: LiveClient): FeedCursor | undefined {
    return this.#pending.has(client) ? this.#before : this.#position
  }

  /** Hands a live client over to the resumer, which sends the client all events after the client's position. */
  hold(client: LiveClient): void {
    client.stand(this.placeOf(client))
    this.#pending.delete(client)
    client.state = 'resuming'
  }

  /**
   * Events of a block that at least one subscriber wants. Call `readKeysFor` first: an event without filter keys is
   * compared by event name only.
   */
  wanted(events: BlockEvents): PlacedEvent[] {
    return events.placed.filter((placed) => this.#isHeard(placed) || this.#matches(placed).size > 0)
  }

  /** Events whose filter keys must be read to decide whether a subscriber wants them. */
  lackingKeys({ placed }: BlockEvents): PlacedEvent[] {
    return placed.filter(({ keys, name }) => keys === undefined && this.index.needsKeys(name))
  }

  /** Publishes the events of one block to their subscribers. */
  async publish(events: BlockEvents): Promise<void> {
    const byClient = this.#receivers(events)
    const groups = groupAlike(byClient)
    for (const client of byClient.keys()) this.#pending.add(client)
    const heard = this.#publishHeard(events)
    for (const group of groups) {
      const batch = events.isHeavy ? undefined : await events.batch(group.format, group.filters)
      await forEachYielding(group.clients, (client) => this.#give(client, batch))
    }
    await heard
  }

  /** Publishes a rollback, or a gap (blocks without published events). */
  async publishNotice(message: Outgoing, undoneFrom?: number): Promise<void> {
    const clients = this.#live()
    for (const client of clients) this.#pending.add(client)
    const heard =
      undoneFrom === undefined ? [] : this.#listeners.map((listener) => listener.publishFork(undoneFrom))
    await forEachYielding(clients, (client) => {
      this.#give(client, { bytes: message.bytes(client.connection.format), count: 1 })
    })
    await Promise.all(heard)
  }

  /**
   * Sends a message without an event to the live clients at the channel's position, to move their cursors.
   * @param quietMs the message is sent only to clients that were sent no cursor for this time.
   */
  async inform(message: Outgoing, quietMs = 0): Promise<void> {
    const { position } = this
    await forEachYielding(this.#live(), (client) => {
      const isAt = client.state === 'live' && !this.#pending.has(client) && this.position === position
      const isDue = performance.now() - client.cursorSentMs >= quietMs
      if (!isAt || !isDue || client.connection.waitingBytes > this.#options.maxQueueBytes) return
      client.cursorSentMs = performance.now()
      this.#write(client, { bytes: message.bytes(client.connection.format), count: 1 })
    })
  }

  #live(): LiveClient[] {
    return [...this.#clients].filter(({ state }) => state === 'live')
  }

  #isHeard({ entry }: PlacedEvent): boolean {
    return this.#listeners.some((listener) => listener.wants(entry))
  }

  #matches({ name, keys }: PlacedEvent): ReadonlySet<SharedFilter<Subscription>> {
    if (!this.index.admits(name)) return none
    return this.index.match({ name, keys: keys ?? noKeys })
  }

  /** Returns the live clients that get events of a block, with the matching filters of each client. */
  #receivers(events: BlockEvents): Map<LiveClient, Set<SharedFilter<Subscription>>> {
    const byClient = new Map<LiveClient, Set<SharedFilter<Subscription>>>()
    const matched = new Set(events.placed.flatMap((placed) => [...this.#matches(placed)]))
    for (const shared of matched) {
      for (const { client } of shared.subscribers) {
        if (client.state !== 'live') continue
        const own = byClient.get(client)
        if (own) own.add(shared)
        else byClient.set(client, new Set([shared]))
      }
    }
    return byClient
  }

  async #publishHeard(events: BlockEvents): Promise<void> {
    const heard = events.placed.filter((placed) => this.#isHeard(placed))
    const payloads = new SocketPayloads(events.block)
    for (let at = 0; at < heard.length;) {
      const rest = heard.slice(at)
      // All wanted records of a block that is not heavy are in memory.
      const inMemory = rest.map((placed) => events.loaded(placed))
      const chunk = inMemory.every((event) => event !== undefined) ? inMemory : await events.load(rest)
      await Promise.all(this.#listeners.map((listener) => listener.publish(chunk, payloads)))
      at += chunk.length
    }
  }

  /**
   * Writes the messages of a block to a client. If the messages are too large, or if the client has too many unread
   * bytes, the resumer sends them in pieces.
   * @param batch the messages; undefined if they are too large.
   */
  #give(client: LiveClient, batch: Batch | undefined): void {
    if (!this.#pending.has(client)) return
    if (batch === undefined || client.connection.waitingBytes > this.#options.maxQueueBytes) {
      this.hold(client)
      this.#options.resume(this, client)
      return
    }
    this.#pending.delete(client)
    client.cursorSentMs = performance.now()
    this.#write(client, batch)
  }

  #write({ connection }: LiveClient, { bytes, count }: Batch): void {
    if (!connection.isOpen || count === 0) return
    connection.write(bytes)
    this.#options.observer.sent(connection.transport, count, bytes.length)
  }
}

const none: ReadonlySet<SharedFilter<Subscription>> = new Set()
const noKeys = { collections: [], templates: [], accounts: [], assets: [], listings: [] }

interface Batch {
  readonly bytes: Buffer
  /** Number of messages that `bytes` contains. */
  readonly count: number
}

/** Clients that get the same bytes, because they have the same format and the same matching filters. */
interface Group {
  readonly format: Format
  readonly filters: readonly SharedFilter<Subscription>[]
  readonly clients: LiveClient[]
}

function groupAlike(
  byClient: ReadonlyMap<LiveClient, ReadonlySet<SharedFilter<Subscription>>>,
): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const [client, filters] of byClient) {
    const { format } = client.connection
    const serials = [...filters].map(({ serial }) => serial).sort((a, b) => a - b)
    const key = `${format} ${serials.join()}`
    const group = groups.get(key)
    if (group) group.clients.push(client)
    else groups.set(key, { format, filters: [...filters], clients: [client] })
  }
  return groups.values()
}
