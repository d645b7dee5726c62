/** Transport of a client's connection. */
export type Transport = 'websocket' | 'event-stream' | 'socket.io websocket' | 'socket.io polling'

/**
 * Reason why the server closed a connection. `slow`: the client does not read. `rate`: too many messages. `stopping`:
 * shutdown. `silent`: unanswered pings.
 */
export type CutReason = 'slow' | 'rate' | 'stopping' | 'silent'

/** Receives counts of live connections and messages, for the metrics. */
export interface LiveObserver {
  connected(transport: Transport): void
  disconnected(transport: Transport): void
  /**
   * Called when a connection is refused. `origin`: the origin is not allowed by CORS. `address`: too many connections
   * of one client. `full`: too many connections in total. `stopping`: shutdown.
   */
  refused(reason: 'origin' | 'address' | 'full' | 'stopping'): void
  sent(transport: Transport, messages: number, bytes: number): void
  cut(transport: Transport, reason: CutReason): void
  /** Called when a block has been passed to all connections, `seconds` after the API received it. */
  published(reader: string, seconds: number): void
}
