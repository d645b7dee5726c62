/** How a client is connected. */
export type Transport = 'websocket' | 'event-stream' | 'socket.io websocket' | 'socket.io polling'

/** Why a connection was closed or refused by the server. */
export type CutReason = 'slow' | 'rate' | 'stopping' | 'silent'

/** Counts live connections and what is sent. */
export interface LiveObserver {
  connected(transport: Transport): void
  disconnected(transport: Transport): void
  /** Not taken: origin, address (too many of one), full, path or stopping. */
  refused(reason: 'origin' | 'address' | 'full' | 'stopping'): void
  sent(transport: Transport, messages: number, bytes: number): void
  cut(transport: Transport, reason: CutReason): void
  /** Time from receiving a block until it was handed to all connections. */
  published(reader: string, seconds: number): void
}
