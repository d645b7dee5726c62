import type { Metrics } from '../../core/metrics/index.ts'
import type { LiveFeedState, LiveObserver } from '../live/index.ts'

const transports = ['websocket', 'event-stream', 'socket.io websocket', 'socket.io polling'] as const

/** Counts live connections and sent messages, for the metrics. */
export function observeLive(metrics: Metrics): LiveObserver {
  const clients = new Map<string, number>(transports.map((transport) => [transport, 0]))
  const add = (transport: string, by: number): void => {
    clients.set(transport, (clients.get(transport) ?? 0) + by)
  }
  metrics.beforeSnapshot(() => {
    for (const [transport, count] of clients) metrics.set('pronghorn_live_clients', { transport }, count)
  })
  for (const reason of ['origin', 'address', 'full', 'stopping']) {
    metrics.count('pronghorn_live_refused_total', { reason }, 0)
  }
  return {
    connected: (transport) => add(transport, 1),
    disconnected: (transport) => add(transport, -1),
    refused: (reason) => metrics.count('pronghorn_live_refused_total', { reason }),
    sent(transport, messages, bytes) {
      metrics.count('pronghorn_live_messages_sent_total', { transport }, messages)
      metrics.count('pronghorn_live_bytes_sent_total', { transport }, bytes)
    },
    cut: (transport, reason) => metrics.count('pronghorn_live_cut_total', { transport, reason }),
    published: (reader, seconds) =>
      metrics.observe('pronghorn_live_tell_duration_seconds', { reader }, seconds),
  }
}

/**
 * Adds to each metrics snapshot the number of received feed entries by transport, and the number of bytes that clients
 * have not read yet.
 */
export function watchFeeds(metrics: Metrics, states: () => readonly LiveFeedState[]): void {
  metrics.beforeSnapshot(() => {
    for (const { reader, feed, waitingBytes } of states()) {
      metrics.set('pronghorn_live_waiting_bytes', { reader }, waitingBytes)
      if (!feed) continue
      metrics.countTo('pronghorn_live_feed_entries_total', { reader, via: 'bus' }, feed.fromBus)
      metrics.countTo('pronghorn_live_feed_entries_total', { reader, via: 'database' }, feed.fromDatabase)
    }
  })
}
