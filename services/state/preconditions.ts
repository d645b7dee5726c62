import {
  checkDatabaseChain,
  connectDatabase,
  databaseFailure,
  refusePooledTransactions,
  requireSchema,
} from '../core/database/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { FatalError, RetryableError } from '../core/errors/index.ts'
import type { PronghornError } from '../core/errors/index.ts'
import type { Logger } from '../core/log/index.ts'
import { retry } from '../core/retry/index.ts'

const RETRY_MS = 500

/**
 * Waits until the database is available and migrated, and checks that it belongs to the configured chain.
 *
 * @param waitMs how long the database may take to start and to be migrated.
 * @throws RetryableError `DATABASE_UNAVAILABLE`; FatalError `DATABASE_TOO_OLD` if the database is not
 * migrated, `CHAIN_MISMATCH` if the database belongs to another chain.
 */
export function waitForDatabase(
  address: DatabaseAddress,
  chainId: string,
  waitMs: number,
  logger: Logger,
): Promise<void> {
  return retry(() => inspect(address, chainId), {
    firstMs: RETRY_MS,
    withinMs: waitMs,
    mayPass: (error) =>
      error instanceof RetryableError || (error instanceof FatalError && error.code === 'DATABASE_TOO_OLD'),
    onFailure: (error, failures) => {
      if (failures === 1) logger.info(`waiting for the database: ${(error as PronghornError).message}`)
    },
  })
}

async function inspect(address: DatabaseAddress, chainId: string): Promise<void> {
  const client = await connectDatabase(address, {
    applicationName: 'pronghorn-state-start',
  }).catch((cause: unknown) => {
    throw databaseFailure(cause, 'the database cannot be reached', address)
  })
  try {
    await requireSchema(client, { mayBeLater: true })
    await refusePooledTransactions(client, address)
    await checkDatabaseChain(client, chainId)
  } finally {
    await client.end()
  }
}
