import checkToken from 'koa-jwt'
import type { Context, Middleware } from 'koa'
import { Refusal } from '../answers/index.ts'
import type { KeyRing } from './key-ring.ts'
import { ALGORITHM } from './tokens.ts'
import type { TokenClaims, TokenNames } from './tokens.ts'

/**
 * Maximum length of a token, characters. A longer token is rejected without parsing: this service never
 * issues one.
 */
const MAX_TOKEN_LENGTH = 4_096

/** Tolerated clock difference to the service that issued a token, seconds. */
const AHEAD_SECONDS = 60

interface TokenState {
  bearer?: string
}

interface TokenHeader {
  readonly kid?: unknown
  readonly crit?: unknown
}

/** Signing keys, issuer, audience and longest lifetime by which tokens are checked. */
export interface TokenRules {
  readonly ring: KeyRing
  readonly names: TokenNames
  /** Longest lifetime of a token, seconds. */
  readonly ttlSeconds: number
}

/**
 * Step that admits only requests with a valid token, in the header `Authorization: Bearer` or, if that is missing or
 * malformed, in the query parameter `token`.
 */
export function createTokenCheck({ ring, names, ttlSeconds }: TokenRules): Middleware {
  const check = checkToken({
    secret: async (header: TokenHeader, claims: Partial<TokenClaims>) => {
      // RFC 7515: a token with a critical extension (`crit`) that the service does not know must be refused. The
      // service knows none.
      if (header.crit !== undefined) throw new Error(reasons.critical)
      const key = await ring.signingKey(typeof header.kid === 'string' ? header.kid : '')
      if (!key) throw new Error(reasons.unknownKey)
      if (Number(claims.iat) * 1_000 >= key.retiredAtMs) throw new Error(reasons.retiredKey)
      // The types of koa-jwt do not allow a KeyObject, but jsonwebtoken, to which koa-jwt passes the secret, accepts
      // one.
      return key.secret as unknown as Buffer
    },
    getToken: (context) => (context.state as TokenState).bearer ?? null,
    isRevoked: async (_context, claims) => {
      const { aki, iat } = requireClaims(claims, ttlSeconds)
      return !(await ring.isActive(aki, iat))
    },
    key: 'token',
    issuer: names.issuer,
    audience: names.audience,
    algorithms: [ALGORITHM],
  })
  return async (context, next) => {
    const state = context.state as TokenState
    const token = presentedToken(context)
    if (token === undefined) {
      throw new Refusal(401, 'auth_token_missing_error', 'Required authorization token not found.')
    }
    if (token.length > MAX_TOKEN_LENGTH) throw invalidToken(reasons.malformed)
    await ring.refresh()
    state.bearer = token
    try {
      await check(context, () => Promise.resolve())
    } catch (error) {
      const cause = causeOf(error)
      throw cause instanceof Refusal ? cause : invalidToken(reasonOf(cause))
    }
    await next()
  }
}

/**
 * The claims of a token with a valid signature.
 * @throws Error with the reason if the token is refused for its claims.
 */
function requireClaims(claims: Partial<TokenClaims>, ttlSeconds: number): TokenClaims {
  const { aki, iat, exp } = claims
  if (!Number.isSafeInteger(exp)) throw new Error(reasons.endless)
  if (typeof aki !== 'string' || !Number.isSafeInteger(iat)) throw new Error(reasons.malformed)
  if (exp! - iat! > ttlSeconds) throw new Error(reasons.longLived)
  if (iat! > Date.now() / 1_000 + AHEAD_SECONDS) throw new Error(reasons.early)
  return { aki, iat: iat!, exp: exp! }
}

function presentedToken(context: Context): string | undefined {
  const header = /^bearer +([^\s,]+)$/i.exec(context.get('Authorization').trim())
  if (header) return header[1]
  const query = context.query['token']
  const token = Array.isArray(query) ? query[0] : query
  return token === undefined || token === '' ? undefined : token
}

/** Refusal of an invalid token. The refusal never contains the token, because error responses are logged. */
function invalidToken(reason: string): Refusal {
  return new Refusal(401, 'auth_invalid_token_error', 'Unable to correctly decode provided token.', {
    details: { reason },
  })
}

const reasons = {
  malformed: 'the token is malformed',
  critical: 'the token requires an extension that this service does not know',
  endless: 'the token never expires',
  longLived: 'the token is valid for longer than the tokens that this service issues',
  early: 'the issue time of the token is in the future',
  unknownKey: 'the token is signed with an unknown key',
  retiredKey: 'the token was issued after its signing key was retired',
  revoked: 'the API key of the token is no longer valid',
} as const

/**
 * Messages of the token libraries, each with the reason sent in its place. Some messages contain parts of the token.
 */
const knownMessages: readonly (readonly [begin: string, reason: string])[] = [
  ['jwt expired', 'the token has expired'],
  ['jwt not active', 'the token is not valid yet'],
  ['jwt audience invalid', 'the token is for another audience'],
  ['jwt issuer invalid', 'the token is from another issuer'],
  ['jwt signature is required', 'the token is not signed'],
  ['invalid signature', 'the signature is wrong'],
  ['invalid algorithm', 'the token is signed with another algorithm'],
  ['Token revoked', reasons.revoked],
  ...[
    reasons.unknownKey,
    reasons.retiredKey,
    reasons.critical,
    reasons.endless,
    reasons.longLived,
    reasons.early,
  ].map((reason) => [reason, reason] as const),
]

/** The error that koa-jwt has wrapped into its own error. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && 'originalError' in error ? error.originalError : error
}

function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : ''
  return knownMessages.find(([begin]) => message.startsWith(begin))?.[1] ?? reasons.malformed
}
