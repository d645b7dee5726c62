import { randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import type { ApiKey } from './api-keys.ts'
import type { SigningKey } from './signing-keys.ts'

/** The only algorithm for signing tokens. */
export const ALGORITHM = 'HS256'

/** Issuer and audience of tokens. The audience contains the chain id: tokens for another chain are refused. */
export interface TokenNames {
  readonly issuer: string
  readonly audience: string
}

/** Claims of a token in addition to the registered claims of RFC 7519. */
export interface TokenClaims {
  /** Id of the API key that the token was issued for. */
  readonly aki: string
  /** When the token was issued, seconds since 1970. */
  readonly iat: number
  /** When the token expires, seconds since 1970. */
  readonly exp: number
}

/** Version of the format of the claims in a token. */
const CLAIMS_VERSION = 1

/** Issues a token for an API key. The token expires with the key, if that is sooner. */
export function issueToken(
  key: ApiKey,
  signing: SigningKey,
  names: TokenNames,
  ttlSeconds: number,
): { readonly token: string; readonly expiresAt: number } {
  const now = Math.floor(Date.now() / 1_000)
  const end = key.expiresAt ? Math.floor(key.expiresAt.getTime() / 1_000) : Infinity
  const expiresAt = Math.min(now + ttlSeconds, end)
  const claims = { aki: key.id, iat: now, exp: expiresAt, v: CLAIMS_VERSION }
  const token = jwt.sign(claims, signing.secret, {
    algorithm: ALGORITHM,
    keyid: signing.id,
    jwtid: randomUUID(),
    issuer: names.issuer,
    audience: names.audience,
    subject: `key:${key.id}`,
  })
  return { token, expiresAt }
}
