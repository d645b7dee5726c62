import { createRequestCounter } from '../core/http/limits/index.ts'
import type { KeyValueStore } from '../core/kvstore/index.ts'
import type { Logger } from '../core/log/index.ts'
import { describeError } from '../core/errors/index.ts'
import { findApiKey, issueToken, noteUse } from './access/index.ts'
import type { KeyRing, TokenNames } from './access/index.ts'
import { Refusal } from './answers/index.ts'
import type { StateDatabase } from './chain/index.ts'
import type { StateParts } from './endpoints/index.ts'

/** Length of the windows in which issued tokens are counted, ms. */
export const ISSUE_WINDOW_MS = 60_000

/** Dependencies of `createIssuer`. */
export interface IssuanceParts {
  readonly database: StateDatabase
  readonly ring: KeyRing
  readonly names: TokenNames
  readonly ttlSeconds: number
  readonly kvstore: KeyValueStore
  readonly logger: Logger
}

/** Creates the function that exchanges an API key for a token. */
export function createIssuer(parts: IssuanceParts): StateParts['issue'] {
  const { database, ring, names, ttlSeconds, kvstore, logger } = parts
  const counter = createRequestCounter(kvstore, 'state-key', ISSUE_WINDOW_MS, logger)
  return async (presented) => {
    const key = await findApiKey(database, presented)
    if (!key) throw new Refusal(401, 'auth_invalid_api_key_error', 'The API key is not valid.')
    if (key.tokensPerMinute !== null) {
      const { count, expiresInMs } = await counter.add(key.id, 1)
      if (count > key.tokensPerMinute) throw limitReached(key.tokensPerMinute, expiresInMs)
    }
    const token = issueToken(key, await ring.current(), names, ttlSeconds)
    // Not awaited: recording the use of the key must not delay or fail the issue of the token.
    noteUse(database, key.id).catch((error: unknown) => {
      logger.warn(`the use of a key could not be recorded: ${describeError(error)}`)
    })
    return token
  }
}

function limitReached(limit: number, expiresInMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(expiresInMs / 1_000))
  const message = 'Too many tokens were requested with this key.'
  return new Refusal(429, 'auth_rate_limited_error', message, {
    headers: {
      'Retry-After': String(seconds),
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1_000) + seconds),
    },
  })
}
