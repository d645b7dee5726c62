import { createSecretKey, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Queryable } from './api-keys.ts'

/** A secret that tokens are signed with. */
export interface SigningKey {
  /** The `kid` of its tokens. */
  readonly id: string
  /** A key object: from bytes, the token library would first try to parse a public key, which takes it 0.3 ms each time. */
  readonly secret: KeyObject
  /** From this time on the key signs nothing, in ms since 1970; infinite for the newest key. */
  readonly retiredAtMs: number
}

/** Retired keys are retained this long: the longest life of a token, and an hour for clocks that differ. */
const RETENTION = "interval '25 hours'"

/** The old key signs for this long after a rotation: every service that issues tokens has read the new one by then. */
const SETTLING = "interval '20 seconds'"

const newKey = (): [id: string, secret: Buffer] => [randomBytes(8).toString('hex'), randomBytes(32)]

const SELECT = `
  SELECT key_id AS id, secret, retired_at AS "retiredAt" FROM access.signing_keys
  WHERE retired_at IS NULL OR retired_at > now() - ${RETENTION} ORDER BY retired_at NULLS LAST`

/** The keys of tokens that may be valid, in the order in which they retire. Creates a key when there is none. */
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
  const { rows } = await database.query<{ id: string; secret: Buffer; retiredAt: Date | null }>(SELECT)
  return rows.map(({ id, secret, retiredAt }) => ({
    id,
    secret: createSecretKey(secret),
    retiredAtMs: retiredAt?.getTime() ?? Infinity,
  }))
}

/** How a signing key is replaced. */
export interface Rotation {
  /** Deletes all older keys: their tokens are refused as soon as a service reads the keys again. */
  readonly endsOldKeys: boolean
}

/**
 * Puts a new key in use. The old key signs until every service knows the new one, and what it has signed is valid until
 * that expires, unless `endsOldKeys` is set; keys whose tokens have all expired are deleted.
 *
 * @returns the id of the new key.
 */
export async function rotateSigningKey(database: Queryable, { endsOldKeys }: Rotation): Promise<string> {
  const [id, secret] = newKey()
  const retireOldKeys = endsOldKeys
    ? 'DELETE FROM access.signing_keys'
    : `DELETE FROM access.signing_keys WHERE retired_at <= now() - ${RETENTION};
       UPDATE access.signing_keys SET retired_at = now() + ${SETTLING} WHERE retired_at IS NULL`
  // Statements sent together are one transaction: there is always a key in use.
  await database.query(`
    ${retireOldKeys};
    INSERT INTO access.signing_keys (key_id, secret) VALUES ('${id}', '\\x${secret.toString('hex')}')`)
  return id
}
