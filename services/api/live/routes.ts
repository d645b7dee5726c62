import type { Channel } from './channel.ts'
import { SOCKET_IO_PATH } from './socket-io.ts'

/** Destination of a live request. */
export type LivePlace =
  | { readonly kind: 'socket.io' }
  /** A plain websocket, or an event stream, of a namespace. */
  | { readonly kind: 'live' | 'events'; readonly channel: Channel; readonly query: URLSearchParams }

/** Cheap check that rejects the paths of all other requests. */
const MAY_BE_LIVE = /^[^?]*\/v1\/(?:live|events)\/?(?:\?|$)/i

/** Paths of plain websockets and event streams, below the path of their namespace. */
export const plainPaths = { live: '/v1/live', events: '/v1/events' } as const

/** Finds the destination of a live request. Letter case and a trailing slash do not matter, as in all other routes. */
export class LiveRoutes {
  readonly #places = new Map<string, { readonly kind: 'live' | 'events'; readonly channel: Channel }>()

  constructor(channels: readonly Channel[]) {
    for (const channel of channels) {
      for (const path of channel.mount.paths) {
        this.#places.set((path + plainPaths.live).toLowerCase(), { kind: 'live', channel })
        this.#places.set((path + plainPaths.events).toLowerCase(), { kind: 'events', channel })
      }
    }
  }

  /** @param address path and query, as in a request. */
  find(address = ''): LivePlace | undefined {
    if (address.startsWith(SOCKET_IO_PATH)) return { kind: 'socket.io' }
    if (!MAY_BE_LIVE.test(address)) return undefined
    const [path = '', ...query] = address.split('?')
    const place = this.#places.get(path.toLowerCase().replace(/\/$/, ''))
    return place && { ...place, query: new URLSearchParams(query.join('?')) }
  }
}
