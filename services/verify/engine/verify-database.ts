import type pg from 'pg'
import { checkChainId } from '../../core/chain-node/index.ts'
import { connectDatabase } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { openRowDecoder } from '../decode/index.ts'
import type { RowDecoder } from '../decode/index.ts'
import { FolderSource, HttpSource, StateSource } from '../sources/index.ts'
import type { ChainSource } from '../sources/index.ts'
import { verify } from './verify.ts'
import type { Verified, VerifyOptions } from './verify.ts'

/** Default number of concurrent requests to a node. */
const DEFAULT_REQUESTS_AT_ONCE = 4

/** Source of the chain rows. */
export type SourceChoice =
  /** A node's HTTP API. */
  | { readonly kind: 'http'; readonly url: string; readonly atOnce?: number }
  /** The rows that the handler `state` stores. */
  | { readonly kind: 'state' }
  /** A folder of table files. */
  | { readonly kind: 'folder'; readonly path: string }

export interface VerifyDatabaseOptions extends Omit<VerifyOptions, 'client' | 'source'> {
  readonly source: SourceChoice
  /** Decoder of packed rows. Default: the native library, or Pronghorn's own decoder if the library has no binary. */
  readonly decoder?: RowDecoder
}

/**
 * Compares a database with the chain, over its own connection. If all rows of the source are
 * as of one block, all reads of the database share one snapshot.
 *
 * @throws FatalError `CHAIN_MISMATCH` if the node serves another chain.
 */
export async function verifyDatabase(
  address: DatabaseAddress,
  options: VerifyDatabaseOptions,
): Promise<Verified> {
  const client = await connectDatabase(address, { applicationName: 'pronghorn verify' })
  try {
    return await verifyWith(client, options)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Compares a database with the chain, over a connection of the caller outside any transaction. */
export async function verifyWith(client: pg.ClientBase, options: VerifyDatabaseOptions): Promise<Verified> {
  const isLive = options.source.kind === 'http'
  if (!isLive) await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  try {
    const source = await openSource(client, options)
    return await verify({ ...options, client, source })
  } finally {
    if (!isLive) await client.query('ROLLBACK').catch(() => undefined)
  }
}

/** Opens the source of chain rows. Rows stored in the database itself are read over `client`. */
export async function openSource(
  client: pg.ClientBase,
  { source, decoder = openRowDecoder(), signal }: VerifyDatabaseOptions,
): Promise<ChainSource> {
  if (source.kind === 'folder') return FolderSource.open(source.path, decoder)
  if (source.kind === 'state') return StateSource.open(client, decoder)
  const { rows } = await client.query<{ chain_id: string }>('SELECT chain_id FROM chain.identity')
  if (rows[0] !== undefined) await checkChainId(source.url, rows[0].chain_id)
  return new HttpSource({
    url: source.url,
    atOnce: source.atOnce ?? DEFAULT_REQUESTS_AT_ONCE,
    decoder,
    signal,
  })
}
