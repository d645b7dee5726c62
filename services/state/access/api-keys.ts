import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type pg from 'pg'

/** Anything that runs SQL statements: a connection, a pool, or a wrapper of either. */
export interface Queryable {
  query<R extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>
}

/** A stored API key. The database has only the hash of the key itself. */
export interface ApiKey {
  /** Id of the API key, 12 hexadecimal digits; each token contains the id of its key. */
  readonly id: string
  readonly label: string
  /** Limit of tokens issued for this key per minute; null: only the limit per client IP address applies. */
  readonly tokensPerMinute: number | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  readonly lastUsedAt: Date | null
}

/** Properties of an API key to be created. */
export interface NewApiKey {
  readonly label: string
  readonly expiresAt: Date | null
  readonly tokensPerMinute: number | null
}

/** Maximum length of a presented API key, characters. A longer text is rejected without a lookup. */
export const MAX_KEY_LENGTH = 256

const COLUMNS = `key_id AS id, label, tokens_per_minute AS "tokensPerMinute", created_at AS "createdAt",
  expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"`

/** Creates an API key. Only the returned value contains it: the database has its hash, so it cannot be shown again. */
export async function createApiKey(
  database: Queryable,
  { label, expiresAt, tokensPerMinute }: NewApiKey,
): Promise<{ readonly key: string; readonly id: string }> {
  const id = randomBytes(6).toString('hex')
  const key = `server_${randomBytes(20).toString('hex')}`
  await database.query(
    'INSERT INTO access.api_keys (key_id, label, key_hash, tokens_per_minute, expires_at) VALUES ($1, $2, $3, $4, $5)',
    [id, label, hashOf(key), tokensPerMinute, expiresAt],
  )
  return { key, id }
}

/** All API keys, oldest first. */
export async function listApiKeys(database: Queryable): Promise<ApiKey[]> {
  const { rows } = await database.query<ApiKey>(
    `SELECT ${COLUMNS} FROM access.api_keys ORDER BY created_at, key_id`,
  )
  return rows
}

/** Revokes a key by id; false if no such key exists or it is revoked already. */
export async function revokeApiKey(database: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await database.query(
    'UPDATE access.api_keys SET revoked_at = now() WHERE key_id = $1 AND revoked_at IS NULL',
    [id],
  )
  return rowCount === 1
}

/**
 * Finds an API key by its text; null if the key is unknown, expired or revoked. All three cases take the same
 * code path and the same time, so that timing reveals nothing.
 */
export async function findApiKey(database: Queryable, presented: string): Promise<ApiKey | null> {
  const hash = hashOf(presented)
  const { rows } = await database.query<ApiKey & { hash: Buffer }>(
    `SELECT ${COLUMNS}, key_hash AS hash FROM access.api_keys WHERE key_hash = $1`,
    [hash],
  )
  const row = rows[0]
  const isSame = timingSafeEqual(row?.hash ?? Buffer.alloc(hash.length), hash)
  const now = Date.now()
  const isGood = row !== undefined && row.revokedAt === null && (row.expiresAt?.getTime() ?? Infinity) > now
  return isSame && isGood ? row : null
}

/** Records the use of a key, at most once a minute per key. */
export async function noteUse(database: Queryable, id: string): Promise<void> {
  await database.query(
    `UPDATE access.api_keys SET last_used_at = now()
     WHERE key_id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [id],
  )
}

/** A plain SHA-256 without salt suffices: an API key has 160 random bits and cannot be guessed. */
function hashOf(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest()
}
