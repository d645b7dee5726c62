import type pg from 'pg'
import type { Manifest } from './manifest.ts'

/**
 * Reads the chain of a database and its readers with their positions, as the manifest of a dump has them. Returns
 * undefined if no reader has started yet.
 */
export async function readPublishedState(
  client: pg.ClientBase,
): Promise<Pick<Manifest, 'chain_id' | 'readers'> | undefined> {
  const { rows: readers } = await client.query<Manifest['readers'][number]>(
    `SELECT r.name, r.start_block, r.block_num, encode(r.block_id, 'hex') AS block_id,
       (SELECT coalesce(json_agg(json_build_object('family', s.family, 'account', s.account) ORDER BY s.family), '[]')
         FROM chain.sources s WHERE s.reader = r.name) AS contracts
     FROM chain.readers r ORDER BY r.name`,
  )
  const { rows: chains } = await client.query<{ chain_id: string }>('SELECT chain_id FROM chain.identity')
  const [chain] = chains
  return chain && readers.length > 0 ? { chain_id: chain.chain_id, readers } : undefined
}
