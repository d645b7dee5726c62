import { createSecretKey, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Queryable } from './api-keys.ts'

/** A secret for signing tokens. */
export interface SigningKey {
  /** Key id; the `kid` of tokens signed with this key. */
  readonly id: string
  /**
   * The secret is a KeyObject instead of bytes: from bytes the token library first tries to parse a public key, 0.3 ms
   * each time.
   */
  readonly secret: KeyObject
  /** From this time on the key signs no tokens, ms since 1970; infinite for the newest key. */
  readonly retiredAtMs: number
}

/** Retired keys are deleted after this time: the longest lifetime of a token, plus an hour for clock differences. */
const RETENTION = "interval '25 hours'"

/**
 * Time for which the old key still signs after a rotation. At the end of this time every issuing service has read the
 * new key.
 */
const SETTLING = "interval '20 seconds'"

const newKey = (): [id: string, secret: Buffer] => [randomBytes(8).toString('hex'), randomBytes(32)]

const SELECT = `
  SELECT key_id AS id, secret, retired_at AS "retiredAt" FROM access.signing_keys
  WHERE retired_at IS NULL OR retired_at > now() - ${RETENTION} ORDER BY retired_at NULLS LAST`

/** The keys whose tokens may be valid, ordered by retirement. Creates a key if there is none. */
export async function loadSigningKeys(database: Queryable): Promise<SigningKey[]> {
  const found = await readKeys(database)
  if (found.length > 0) return found
  // If several state services start at once, only one INSERT succeeds, and all services use the inserted key.
  await database.query(
    'INSERT INTO access.signing_keys (key_id, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    newKey(),
  )
  return readKeys(database)
}

async function readKeys(database: Queryable): Promise<SigningKey[]> {
  const { rows } = await database.query<{ id: string; secret: Buffer; retiredAt: Date | null }>(SELECT)
  return rows.map(({ id, secret, retiredAt }) => ({
    id,
    secret: createSecretKey(secret),
    retiredAtMs: retiredAt?.getTime() ?? Infinity,
  }))
}

/** Options of replacing the signing key. */
export interface Rotation {
  /** Whether to delete all older signing keys: services refuse their tokens as soon as they read the keys again. */
  readonly endsOldKeys: boolean
}

/**
 * Creates a new signing key. The old key signs until every service knows the new one, and its tokens stay valid until
 * they expire, unless `endsOldKeys` is set. Keys whose tokens have all expired are deleted.
 *
 * @returns the id of the new key.
 */
export async function rotateSigningKey(database: Queryable, { endsOldKeys }: Rotation): Promise<string> {
  const [id, secret] = newKey()
  const retireOldKeys = endsOldKeys
    ? 'DELETE FROM access.signing_keys'
    : `DELETE FROM access.signing_keys WHERE retired_at <= now() - ${RETENTION};
       UPDATE access.signing_keys SET retired_at = now() + ${SETTLING} WHERE retired_at IS NULL`
  // PostgreSQL runs the statements of one query string as one transaction, so no other session finds the table without
  // a key.
  await database.query(`
    ${retireOldKeys};
    INSERT INTO access.signing_keys (key_id, secret) VALUES ('${id}', '\\x${secret.toString('hex')}')`)
  return id
}
