import { describeAnswerLimits } from '../core/http/index.ts'
import { describeBodyLimits } from '../core/http/content/index.ts'
import { listenerLimits } from '../core/http/listener/index.ts'
import { bytesText, countText } from '../core/limits/index.ts'
import type { Limit } from '../core/limits/index.ts'
import { MAX_SEPARATORS } from './http/body.ts'
import { MAX_HEX_ROWS } from './endpoints/index.ts'
import { MAX_ROWS } from './tables/rows.ts'

/** Limit of a request body, bytes: a thousand packed rows of a few kilobytes. */
export const MAX_BODY_BYTES = 8 * 2 ** 20
/** Limit of all request bodies that are being read, bytes. */
export const MAX_BODIES_AT_ONCE_BYTES = 64 * 2 ** 20
export const MAX_CONNECTIONS = 4_096
/** Limit of connections from one client IP address, including idle connections. */
export const MAX_CONNECTIONS_OF_ONE = 512

/** All limits of the state service, for the documentation. */
export const stateLimits: readonly Limit[] = [
  {
    counts: 'connections, idle ones too',
    per: 'process',
    value: countText(MAX_CONNECTIONS),
    beyond: 'closed',
  },
  {
    counts: 'connections, idle ones too',
    per: 'address',
    value: countText(MAX_CONNECTIONS_OF_ONE),
    beyond: 'closed',
  },
  {
    setting: 'STATE_TOKENS_PER_MINUTE',
    counts: 'tokens that are requested in a minute',
    per: 'address',
    beyond: '429 with `Retry-After`',
  },
  {
    setting: 'pronghorn keys create --limit',
    counts: 'tokens that are issued in a minute',
    per: 'API key',
    value: 'set for each key',
    beyond: '429 with `Retry-After`',
  },
  ...listenerLimits,
  ...describeBodyLimits({ value: bytesText(MAX_BODY_BYTES) }, { value: bytesText(MAX_BODIES_AT_ONCE_BYTES) }),
  {
    counts: 'values of a body, counted by braces, brackets, commas and ampersands',
    per: 'request',
    value: countText(MAX_SEPARATORS),
    beyond: '400',
  },
  { counts: 'packed rows of a request', per: 'request', value: countText(MAX_HEX_ROWS), beyond: '400' },
  { counts: 'rows of an answer', per: 'request', value: countText(MAX_ROWS), beyond: '400' },
  ...describeAnswerLimits({ setting: 'STATE_ANSWER_BYTES' }, { setting: 'STATE_ANSWERS_BYTES' }),
]
