import type { EventEntry } from '../../core/live/index.ts'
import type { ChannelMount, Listener } from './channel.ts'
import type { LiveEvent } from './live-event.ts'
import { PacketBatch } from './socket-peer.ts'
import type { SocketPeer } from './socket-peer.ts'
import type { SocketPayloads } from './socket-payload.ts'
import { forEachYielding } from '../../core/http/index.ts'

/** A socket.io client that has joined a socket namespace. */
export interface Member {
  readonly peer: SocketPeer
  /** Rooms that the client has subscribed to. */
  rooms: ReadonlySet<string>
}

/** All clients of one socket namespace. */
export class SocketAudience implements Listener {
  /** Full name of the socket namespace, for example `/assets/v1/offers`. */
  readonly name: string
  readonly #suffix: string
  readonly #mount: ChannelMount
  readonly #members = new Set<Member>()

  /** @param suffix part of the socket namespace's name after the path of the REST namespace. */
  constructor(name: string, suffix: string, mount: ChannelMount) {
    this.name = name
    this.#suffix = suffix
    this.#mount = mount
  }

  add(peer: SocketPeer): Member {
    const member: Member = { peer, rooms: new Set() }
    this.#members.add(member)
    return member
  }

  remove(member: Member): void {
    this.#members.delete(member)
  }

  wants(entry: EventEntry): boolean {
    if (!this.#carries(entry)) return false
    for (const member of this.#members) if (receives(member, entry)) return true
    return false
  }

  async publish(events: readonly LiveEvent[], payloads: SocketPayloads): Promise<void> {
    const carried = events.filter(({ entry }) => this.#carries(entry))
    if (carried.length === 0) return
    const batches = new Map<string, PacketBatch | undefined>()
    await forEachYielding([...this.#members], (member) => {
      const key = [...member.rooms].sort().join()
      if (!batches.has(key)) batches.set(key, this.#batch(carried, member, payloads))
      const batch = batches.get(key)
      if (batch) member.peer.write(batch)
    })
  }

  async publishFork(blockNum: number): Promise<void> {
    const batch = new PacketBatch(this.name, [['fork', JSON.stringify({ block_num: blockNum })]])
    await forEachYielding([...this.#members], ({ peer }) => {
      peer.write(batch)
    })
  }

  #carries({ socket }: EventEntry): boolean {
    if (!socket || (socket.assetUpdate && !this.#mount.assetUpdate)) return false
    return socket.namespaces.includes(this.#suffix)
  }

  #batch(events: readonly LiveEvent[], member: Member, payloads: SocketPayloads): PacketBatch | undefined {
    const received = events.filter(({ entry }) => receives(member, entry))
    if (received.length === 0) return undefined
    const packets = received.map((event) => [event.entry.socket!.event, payloads.payload(event)] as const)
    return new PacketBatch(this.name, packets)
  }
}

function receives({ rooms }: Member, { socket }: EventEntry): boolean {
  return socket !== undefined && (socket.room === undefined || rooms.has(socket.room))
}
