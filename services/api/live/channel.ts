import type { EventEntry, EventFamily } from '../../core/live/index.ts'
import type { Namespace } from '../endpoint/index.ts'
import type { LiveClient } from './client.ts'
import type { Filter } from './filter.ts'
import { fitsAny } from './filter.ts'
import type { LiveEvent } from './live-event.ts'
import type { LiveObserver } from './observer.ts'
import type { Format, Outgoing } from './outgoing.ts'
import { forEachYielding } from './yielding.ts'

/** A namespace whose events are published. */
export interface ChannelMount {
  readonly namespace: Namespace
  readonly family: EventFamily
  /** Contract account. */
  readonly contract: string
  /** Prefixes that it answers on. */
  readonly paths: readonly string[]
  /** `connected_reader`; without one nothing is published. */
  readonly reader: string | undefined
  /** `socket_features.asset_update`. */
  readonly assetUpdate: boolean
}

/** Other subscribers of a namespace's events, with their own protocol. */
export interface Listener {
  /** Whether a client is subscribed to events of this kind now. */
  wants(entry: EventEntry): boolean
  /** Sends the events of a block, in their order. */
  publish(events: readonly LiveEvent[]): Promise<void>
  /** Sends that blocks are undone. */
  publishFork(blockNum: number): Promise<void>
}

/** Dependencies of a channel. */
export interface ChannelOptions {
  readonly mount: ChannelMount
  readonly maxQueueBytes: number
  readonly observer: LiveObserver
}

/** The clients of one namespace. */
export class Channel {
  readonly mount: ChannelMount
  readonly #options: ChannelOptions
  readonly #clients = new Set<LiveClient>()
  readonly #listeners: Listener[] = []

  constructor(options: ChannelOptions) {
    this.mount = options.mount
    this.#options = options
  }

  /** Clients that are connected. */
  get clients(): ReadonlySet<LiveClient> {
    return this.#clients
  }

  add(client: LiveClient): void {
    this.#clients.add(client)
  }

  remove(client: LiveClient): void {
    this.#clients.delete(client)
  }

  /** Adds a subscriber, which gets every block that has what it wants. */
  listen(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** Whether a client is subscribed to events of this kind now. */
  wants(entry: EventEntry): boolean {
    if (this.#listeners.some((listener) => listener.wants(entry))) return true
    for (const client of this.#clients) {
      if (client.state === 'live' && client.mayWant(entry.event)) return true
    }
    return false
  }

  /** Publishes the events of one block to their subscribers. @param sequence entry of the feed. */
  async publish(sequence: bigint, events: readonly LiveEvent[]): Promise<void> {
    if (events.length === 0) return
    // Who joins from here on begins after this block.
    const clients = this.#live(sequence)
    const publishing = this.#listeners.map((listener) => listener.publish(events))
    for (const group of groupAlike(clients)) {
      const batch = await createBatch(events, group)
      if (batch.count > 0) await forEachYielding(group.clients, (client) => this.#write(client, batch))
    }
    await Promise.all(publishing)
  }

  /** Publishes a rollback of blocks. */
  async publishFork(sequence: bigint, blockNum: number, message: Outgoing): Promise<void> {
    const clients = this.#live(sequence)
    const publishing = this.#listeners.map((listener) => listener.publishFork(blockNum))
    await this.#sendToAll(clients, () => message)
    await Promise.all(publishing)
  }

  /** Sends all clients a message that is no event. @param choose the message for a client, at the time it is sent. */
  sendToAll(choose: (client: LiveClient) => Outgoing): Promise<void> {
    return this.#sendToAll(this.#live(), choose)
  }

  /** Another feed has begun, or a part of it is lost: numbers of entries from before mean nothing. */
  forgetHeard(): void {
    for (const client of this.#clients) client.heardUpTo = 0n
  }

  /** Clients that receive events, except those that have been given the entry already. */
  #live(sequence?: bigint): LiveClient[] {
    return [...this.#clients].filter(
      ({ state, heardUpTo }) => state === 'live' && (sequence === undefined || heardUpTo < sequence),
    )
  }

  #sendToAll(clients: readonly LiveClient[], choose: (client: LiveClient) => Outgoing): Promise<void> {
    return forEachYielding(clients, (client) => {
      this.#write(client, { bytes: choose(client).bytes(client.connection.format), count: 1 })
    })
  }

  /** Unread messages are buffered up to a limit; then the client is disconnected. */
  #write(client: LiveClient, { bytes, count }: Batch): void {
    const { connection } = client
    if (!connection.isOpen) return
    const { maxQueueBytes, observer } = this.#options
    if (connection.waitingBytes > maxQueueBytes) {
      this.remove(client)
      observer.cut(connection.transport, 'slow')
      client.dismiss('TOO_SLOW', `more than ${maxQueueBytes} bytes wait to be read`)
      return
    }
    connection.write(bytes)
    observer.sent(connection.transport, count, bytes.length)
  }
}

interface Batch {
  readonly bytes: Buffer
  /** Messages in it. */
  readonly count: number
}

/** Clients that are sent the same bytes. */
interface Group {
  readonly format: Format
  /** Of each of them when the group was formed: a client may change its subscriptions while a block is encoded. */
  readonly filters: readonly Filter[]
  readonly clients: LiveClient[]
}

function groupAlike(clients: readonly LiveClient[]): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const client of clients) {
    const { format } = client.connection
    const key = `${format} ${client.signature}`
    const group = groups.get(key)
    if (group) group.clients.push(client)
    else groups.set(key, { format, filters: client.filters, clients: [client] })
  }
  return groups.values()
}

/** The messages of a block for each client of a group. */
async function createBatch(events: readonly LiveEvent[], { format, filters }: Group): Promise<Batch> {
  const parts: Buffer[] = []
  await forEachYielding(events, (event) => {
    if (fitsAny(filters, event)) parts.push(event.message.bytes(format))
  })
  return { bytes: Buffer.concat(parts), count: parts.length }
}
