import { checkChainId, shownAddress } from '../core/chain-node/index.ts'
import type pg from 'pg'
import type { ConfigWith } from '../core/config/index.ts'
import {
  checkDatabaseChain,
  connectDatabase,
  databaseFailure,
  refusePooledTransactions,
  requireSchema,
} from '../core/database/index.ts'
import { FatalError, RetryableError } from '../core/errors/index.ts'
import type { PronghornError } from '../core/errors/index.ts'
import type { Logger } from '../core/log/index.ts'
import { retry } from '../core/retry/index.ts'
import type { DatabaseTraits } from './namespaces/index.ts'

/** Sections of the configuration that the API needs. */
export type ApiConfig = ConfigWith<'connections' | 'server'>

const RETRY_MS = 500

/**
 * Waits until the database is available, and checks its schema, chain and contracts.
 *
 * @param waitMs time limit for the start and the migration of the database.
 * @throws RetryableError `DATABASE_UNAVAILABLE`; FatalError `DATABASE_TOO_OLD` if the database is not migrated,
 * `CHAIN_MISMATCH` if it belongs to another chain, `CONFIG_INVALID` if it has another contract.
 */
export function checkDatabase(config: ApiConfig, waitMs: number, logger: Logger): Promise<DatabaseTraits> {
  return retry(() => inspectDatabase(config), {
    firstMs: RETRY_MS,
    withinMs: waitMs,
    mayPass: (error) => error instanceof RetryableError || isTooOld(error),
    onFailure: (error, failures) => {
      if (failures === 1) logger.info(`waiting for the database: ${(error as PronghornError).message}`)
    },
  })
}

function isTooOld(error: unknown): boolean {
  return error instanceof FatalError && error.code === 'DATABASE_TOO_OLD'
}

async function inspectDatabase(config: ApiConfig): Promise<DatabaseTraits> {
  const { sqldb, chain } = config.connections
  const client = await connectDatabase(sqldb, { applicationName: 'pronghorn-api-start' }).catch(
    (cause: unknown) => {
      throw databaseFailure(cause, 'the database cannot be reached', sqldb)
    },
  )
  try {
    await requireSchema(client, { mayBeLater: true })
    await refusePooledTransactions(client, sqldb)
    await checkDatabaseChain(client, chain.chain_id)
    await checkSources(client, config)
    const { rows } = await client.query<{ found: boolean }>(
      "SELECT to_regprocedure('word_similarity(text,text)') IS NOT NULL AS found",
    )
    return { trigrams: rows[0]!.found }
  } finally {
    await client.end()
  }
}

async function checkSources(client: pg.ClientBase, config: ApiConfig): Promise<void> {
  const { rows } = await client.query<{ family: string; account: string }>(
    'SELECT family, account FROM chain.sources',
  )
  for (const namespace of config.server.namespaces) {
    const wanted: unknown = Reflect.get(namespace.args, `${namespace.name}_account`)
    const source = rows.find((row) => row.family === namespace.name)
    if (source && source.account !== wanted) {
      throw new FatalError(
        'CONFIG_INVALID',
        `namespace ${namespace.path} is configured for contract ${String(wanted)}, but the database holds ${source.account}`,
      )
    }
  }
}

/**
 * Compares the configured chain id with the chain id of the node. An unavailable node is not an error.
 * @throws FatalError `CHAIN_MISMATCH`.
 */
export async function checkChainNode(url: string, chainId: string, logger: Logger): Promise<void> {
  if (!(await checkChainId(url, chainId))) logger.warn(`the chain node ${shownAddress(url)} does not answer`)
}
