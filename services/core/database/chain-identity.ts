import { DEMO_CHAIN_ID } from '../chain-node/index.ts'
import { FatalError } from '../errors/index.ts'

/** Anything that runs statements: a client, or a session inside a transaction. */
export interface IdentityReader {
  query(text: string): Promise<{ readonly rows: readonly { readonly chain_id: string }[] }>
}

/**
 * Checks that a migrated database belongs to the given chain. A database without a chain passes.
 * @throws FatalError `CHAIN_MISMATCH`; its detail `held` names the chain of the database.
 */
export async function checkDatabaseChain(client: IdentityReader, chainId: string): Promise<void> {
  const { rows } = await client.query('SELECT chain_id FROM chain.identity')
  const other = rows.find(({ chain_id: found }) => found !== chainId)
  if (!other) return
  const held = nameChain(other.chain_id)
  throw new FatalError(
    'CHAIN_MISMATCH',
    `the database belongs to ${held}, but the configuration names ${nameChain(chainId)}`,
    {
      details: { expected: chainId, actual: other.chain_id, held },
    },
  )
}

function nameChain(chainId: string): string {
  return chainId === DEMO_CHAIN_ID ? 'the demo chain' : `chain ${chainId}`
}
