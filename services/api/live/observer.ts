/** How a client is connected. */
export type Transport = 'websocket' | 'event-stream' | 'socket.io websocket' | 'socket.io polling'

/**
 * Why the server closed a connection. slow: unread bytes. rate: too many messages. stopping: shutdown. silent:
 * unanswered pings.
 */
export type CutReason = 'slow' | 'rate' | 'stopping' | 'silent'

/** Receives counts of live connections and messages, for the metrics. */
export interface LiveObserver {
  connected(transport: Transport): void
  disconnected(transport: Transport): void
  /**
   * A connection was refused. origin: not allowed by CORS. address: too many connections of one client. full: too many
   * in total. stopping: shutdown.
   */
  refused(reason: 'origin' | 'address' | 'full' | 'stopping'): void
  sent(transport: Transport, messages: number, bytes: number): void
  cut(transport: Transport, reason: CutReason): void
  /** A block was handed to all connections, `seconds` after it was received. */
  published(reader: string, seconds: number): void
}
