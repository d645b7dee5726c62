import { bytesText, secondsText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import { LARGEST_GREETING_BYTES, LARGEST_STATUS_BYTES } from './node-connection.ts'
import { DEFAULT_MESSAGE_BYTES, defaultTiming } from './settings.ts'

const ofConnection = {
  per: 'connection',
  beyond: 'the reader closes the connection, and connects again later',
}

/** Limits of the messages that a node sends over its state-history websocket. */
export const shipLimits: readonly Limit[] = [
  { counts: 'bytes of the protocol ABI', ...ofConnection, value: bytesText(LARGEST_GREETING_BYTES) },
  {
    counts: 'bytes of a message while no block is expected',
    ...ofConnection,
    value: bytesText(LARGEST_STATUS_BYTES),
  },
  {
    setting: 'ship_max_message_bytes',
    counts: 'bytes of a message',
    per: 'connection',
    value: bytesText(DEFAULT_MESSAGE_BYTES),
    beyond:
      'the reader stops with `SHIP_MESSAGE_TOO_LARGE`; with several nodes, the reader requests the block from another node',
  },
  {
    counts: 'time until the connection is open',
    ...ofConnection,
    value: secondsText(defaultTiming.handshakeTimeoutMs),
  },
  {
    counts: 'time until the protocol ABI or a status reply arrives',
    ...ofConnection,
    value: secondsText(defaultTiming.replyTimeoutMs),
  },
  {
    counts: 'time without any message or pong',
    ...ofConnection,
    value: secondsText(defaultTiming.idleTimeoutMs),
  },
  {
    counts: `bytes that arrive per second of a message that is incomplete for more than ${secondsText(defaultTiming.slowMessageTimeoutMs)}`,
    ...ofConnection,
    value: `at least ${bytesText(defaultTiming.minBytesPerSecond)}`,
  },
  {
    counts: 'time until a message is complete',
    ...ofConnection,
    value: secondsText(defaultTiming.messageTimeoutMs),
  },
]
