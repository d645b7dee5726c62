import { chainTables } from '../../core/model/tables/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { RetryableError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { Handler } from '../handlers/index.ts'
import { checkReader } from '../pipeline/index.ts'
import type { ReaderSettings } from '../pipeline/index.ts'
import { asStoreError, openStore } from '../store/index.ts'
import { listTables } from '../../core/model/index.ts'
import type { Store } from '../store/index.ts'

/** The database that an import writes to, and the reader that indexes the blocks after the imported block. */
export interface ImportTarget {
  /** Target database; its schema is migrated already. */
  readonly database: DatabaseAddress
  readonly chain: { readonly chainId: string }
  /** Settings of the reader that indexes the blocks after the imported block. */
  readonly settings: ReaderSettings
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly handoverMs?: number
}

/** Opens the store of the reader, with the tables of all handlers. */
function openTarget(target: ImportTarget, handlers: readonly Handler[]): Promise<Store> {
  return openStore({
    address: target.database,
    reader: target.settings.name,
    startBlock: Math.max(target.settings.start_block, 1),
    tables: [...listTables(chainTables), ...handlers.flatMap((handler) => handler.tables)],
    derived: handlers.flatMap((handler) => handler.derived ?? []),
    ...(target.handoverMs === undefined ? {} : { handoverMs: target.handoverMs }),
  })
}

/**
 * Opens the store of the reader, calls `run` with the store, and closes the store when `run` ends.
 *
 * @throws FatalError `CHAIN_MISMATCH` and the errors of the store; RetryableError `DATABASE_UNAVAILABLE`.
 */
export async function withTarget<T>(
  target: ImportTarget,
  handlers: readonly Handler[],
  run: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openTarget(target, handlers)
  try {
    const { settings, chain, logger } = target
    await checkReader(store, {
      settings: { ...settings, delete_data: false, stop_block: 0 },
      families: handlers,
      chainId: chain.chainId,
      logger,
    })
    return await run(store)
  } finally {
    await store.close()
  }
}

/**
 * Returns the error with which a failed import ends. A stop of the import aborts `signal` and makes running requests
 * fail. After a stop, the result is therefore `IMPORT_UNFINISHED`, whichever request failed first.
 */
export function asImportError(error: unknown, signal: AbortSignal): Error {
  return signal.aborted
    ? new RetryableError('IMPORT_UNFINISHED', 'the import was stopped', { cause: error })
    : asStoreError(error)
}
