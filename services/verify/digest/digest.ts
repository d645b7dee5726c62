import type pg from 'pg'

export interface TableDigest {
  /** Name with schema, such as `assets.assets`. */
  readonly name: string
  readonly rows: bigint
  /** Digest of the rows, 32 hexadecimal digits; it does not depend on the order of rows and columns. */
  readonly digest: string
}

/** Committed position of a reader in the snapshot of a digest. */
export interface DigestPosition {
  readonly reader: string
  readonly blockNum: number
  /** Id of the last committed block, 64 hexadecimal digits; empty before the first block. */
  readonly blockId: string
}

/** Content of a database as comparable digests. */
export interface DatabaseDigest {
  /** Chain id, 64 hexadecimal digits; null in a database that no reader has written to. */
  readonly chainId: string | null
  readonly positions: readonly DigestPosition[]
  /** Digest of all tables together. */
  readonly digest: string
  readonly tables: readonly TableDigest[]
}

export interface DigestOptions {
  /** Tables with their schema; default: all tables with data from the chain. */
  readonly tables?: readonly string[]
  /** Called before a table is digested, with the number of digested tables and of all tables. */
  readonly onTable?: (name: string, done: number, of: number) => void
}

/** Names of all tables with a digest, with their schema, ascending. */
export async function listDigestTables(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM chain.digest_tables()')
  return rows.map(({ name }) => name)
}

/**
 * Digests a database at the committed block of one snapshot. Two databases of the same chain at the same block have
 * equal digests, however they were filled. PostgreSQL hashes the rows and sends only digests.
 *
 * The client must not be in a transaction.
 */
export async function digestDatabase(
  client: pg.ClientBase,
  options: DigestOptions = {},
): Promise<DatabaseDigest> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  try {
    return await digestSnapshot(client, options)
  } finally {
    await client.query('ROLLBACK').catch(() => undefined)
  }
}

/** Computes the digest within a transaction of the caller. */
export async function digestSnapshot(
  client: pg.ClientBase,
  options: DigestOptions = {},
): Promise<DatabaseDigest> {
  const chain = await client.query<{ chain_id: string }>('SELECT chain_id FROM chain.identity')
  const positions = await client.query<DigestPosition>(
    `SELECT name AS reader, block_num AS "blockNum", encode(block_id, 'hex') AS "blockId" FROM chain.readers ORDER BY name`,
  )
  const names = options.tables ?? (await listDigestTables(client))
  const tables: TableDigest[] = []
  for (const name of names) {
    options.onTable?.(name, tables.length, names.length)
    tables.push(await digestTable(client, name))
  }
  const joined = await client.query<{ digest: string }>(
    'SELECT chain.join_digests($1, $2, $3::bigint[]) AS digest',
    [tables.map((table) => table.name), tables.map(({ digest }) => digest), tables.map(({ rows }) => rows)],
  )
  return {
    chainId: chain.rows[0]?.chain_id ?? null,
    positions: positions.rows,
    digest: joined.rows[0]!.digest,
    tables,
  }
}

async function digestTable(client: pg.ClientBase, name: string): Promise<TableDigest> {
  const { rows } = await client.query<{ row_count: bigint; digest: string }>(
    'SELECT row_count, digest FROM chain.digest($1::regclass)',
    [name],
  )
  const { row_count: count, digest } = rows[0]!
  return { name, rows: count, digest }
}

/** Names of the tables in which two digests differ; empty if both databases have equal content. */
export function compareDigests(one: DatabaseDigest, other: DatabaseDigest): string[] {
  const ofOther = new Map(other.tables.map((table) => [table.name, table]))
  const ofOne = new Set(one.tables.map(({ name }) => name))
  const differing = one.tables.filter(({ name, digest, rows }) => {
    const against = ofOther.get(name)
    return against === undefined ? rows > 0n : against.digest !== digest
  })
  const additional = other.tables.filter(({ name, rows }) => rows > 0n && !ofOne.has(name))
  return [...differing, ...additional].map(({ name }) => name)
}
