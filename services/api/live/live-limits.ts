import { bytesText, secondsText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import { CHUNK_BYTES, HEAVY_BYTES } from './block-events.ts'
import { MAX_WAITING_BYTES } from './inbox.ts'
import type { LiveLimits } from './limits.ts'
import { RECORD_BYTES } from './records.ts'
import { resumeTiming } from './resuming.ts'
import { LEAST_RATE, STALL_MS } from './slow-client.ts'
import { subscriptionBytes } from './subscription-budget.ts'

/** A documented limit of live connections. `setting` is a key below `live` in server.config.json. */
type LiveLimit = Limit & { readonly setting?: keyof LiveLimits }

/** Limits of live connections with the values that the code enforces. The documentation lists these limits. */
export const liveLimits: readonly LiveLimit[] = [
  { setting: 'max_connections', counts: 'connections', per: 'process', beyond: '503' },
  { setting: 'connections_per_address', counts: 'connections', per: 'address', beyond: '429' },
  {
    ...{ setting: 'subscriptions_per_connection', counts: 'subscriptions', per: 'connection' },
    beyond: '`TOO_MANY_SUBSCRIPTIONS`',
  },
  {
    ...{ setting: 'values_per_subscription', counts: 'values of filters', per: 'subscription' },
    beyond: '`INVALID_FILTER`',
  },
  ...(['connection', 'address', 'process'] as const).map((per): LiveLimit => ({
    ...{ counts: 'memory of the filters of all subscriptions, bytes', per },
    value: bytesText(subscriptionBytes[per]),
    beyond: '`SUBSCRIPTIONS_TOO_LARGE`; the event stream answers 429',
  })),
  {
    ...{ setting: 'max_message_bytes', counts: 'bytes of a message of a client', per: 'message' },
    beyond: 'the connection closes with 1009',
  },
  {
    ...{ setting: 'messages_per_second', counts: 'messages of a client in a second', per: 'connection' },
    beyond: '`RATE_LIMITED`, the connection closes',
  },
  {
    ...{ counts: 'bytes of messages of a client that wait to be handled', per: 'connection' },
    value: bytesText(MAX_WAITING_BYTES),
    beyond: '`RATE_LIMITED`, the connection closes',
  },
  {
    ...{ counts: 'bytes of a record', per: 'message', value: bytesText(RECORD_BYTES) },
    beyond: 'the event has `too_large` and `path` instead of the record',
  },
  {
    ...{ counts: 'bytes of the records of a block that are in memory at the same time', per: 'block' },
    value: `${bytesText(HEAVY_BYTES)}; the records of a larger block are read ${bytesText(CHUNK_BYTES)} at a time`,
    beyond: 'the server sends the events of the block piece by piece, as fast as the client reads',
  },
  {
    ...{
      setting: 'max_queue_bytes',
      counts: 'bytes of messages that the client has not read yet',
      per: 'connection',
    },
    beyond:
      'the server sends further messages only after the client has read; a socket.io client that does not read is disconnected',
  },
  {
    ...{ counts: 'time in which a client reads nothing', per: 'connection' },
    value: `${secondsText(STALL_MS)}, plus 1 s for each ${bytesText(LEAST_RATE)} of messages that the client has not read yet`,
    beyond: '`TOO_SLOW`, the connection closes',
  },
  {
    ...{ counts: 'time that a client waits until the server can send its missed events', per: 'connection' },
    value: `${secondsText(resumeTiming.waitMs)}; \`waiting\` is sent every ${secondsText(resumeTiming.noticeMs)}`,
    beyond: '`UNAVAILABLE`, the connection closes',
  },
]
