import { DEMO_CHAIN_ID } from '../chain-node/index.ts'
import { FatalError } from '../errors/index.ts'

/** Runs a statement; clients and sessions of transactions can. */
export interface IdentityReader {
  query(text: string): Promise<{ readonly rows: readonly { readonly chain_id: string }[] }>
}

/**
 * Checks that a migrated database belongs to a chain; one that has no chain yet passes.
 * @throws FatalError `CHAIN_MISMATCH`, with what to do.
 */
export async function checkDatabaseChain(client: IdentityReader, chainId: string): Promise<void> {
  const { rows } = await client.query('SELECT chain_id FROM chain.identity')
  const other = rows.find(({ chain_id: found }) => found !== chainId)
  if (!other) return
  const found = other.chain_id === DEMO_CHAIN_ID ? 'the demo chain' : `chain ${other.chain_id}`
  throw new FatalError(
    'CHAIN_MISMATCH',
    `the database holds ${found}, the configuration names chain ${chainId}. Name another database (POSTGRES_DATABASE, or ` +
      'sqldb.database), or give up the data and the secrets of the appliance with `docker compose --profile "*" down --volumes` and ' +
      'start it again with `docker compose up -d --wait`',
    { details: { expected: chainId, actual: other.chain_id } },
  )
}
