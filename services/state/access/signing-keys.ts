import { createSecretKey, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Queryable } from './api-keys.ts'

/** A secret that tokens are signed with. */
export interface SigningKey {
  /** The `kid` of its tokens. */
  readonly id: string
  /** A key object: from bytes, the token library would first try to parse a public key, which takes it 0.3 ms each time. */
  readonly secret: KeyObject
}

/** Retired keys are retained this long: the longest life of a token, and an hour for clocks that differ. */
const RETENTION = "interval '25 hours'"

const newKey = (): [id: string, secret: Buffer] => [randomBytes(8).toString('hex'), randomBytes(32)]

/** A new key signs only after this time, when every service has read it. */
const SETTLING = "interval '20 seconds'"

const SELECT = `
  SELECT key_id AS id, secret FROM access.signing_keys WHERE retired_at IS NULL OR retired_at > now() - ${RETENTION}
  ORDER BY CASE WHEN retired_at IS NOT NULL THEN 1 WHEN created_at < now() - ${SETTLING} THEN 0 ELSE 2 END,
    retired_at DESC`

/** The keys of tokens that may be good, the one to sign with first. Creates a key when there is none. */
export async function loadSigningKeys(database: Queryable): Promise<SigningKey[]> {
  const found = await readKeys(database)
  if (found.length > 0) return found
  // Of several services that start at once one succeeds; all continue with the key that it created.
  await database.query(
    'INSERT INTO access.signing_keys (key_id, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    newKey(),
  )
  return readKeys(database)
}

async function readKeys(database: Queryable): Promise<SigningKey[]> {
  const { rows } = await database.query<{ id: string; secret: Buffer }>(SELECT)
  return rows.map(({ id, secret }) => ({ id, secret: createSecretKey(secret) }))
}

/**
 * Puts a new key in use, which signs as soon as every service knows it. Tokens that were signed with the one before are
 * good until they expire; keys whose tokens have all expired are deleted.
 *
 * @returns the id of the new key.
 */
export async function rotateSigningKey(database: Queryable): Promise<string> {
  const [id, secret] = newKey()
  // Statements sent together are one transaction: there is always a key in use.
  await database.query(`
    DELETE FROM access.signing_keys WHERE retired_at <= now() - ${RETENTION};
    UPDATE access.signing_keys SET retired_at = now() WHERE retired_at IS NULL;
    INSERT INTO access.signing_keys (key_id, secret) VALUES ('${id}', '\\x${secret.toString('hex')}')`)
  return id
}
