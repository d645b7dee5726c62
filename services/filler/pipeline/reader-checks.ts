import { checkDatabaseChain } from '../../core/database/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { wipeFeed } from '../feed/index.ts'
import type { Handler, StateWriter } from '../handlers/index.ts'
import type { Store } from '../store/index.ts'
import type { ReaderSettings } from './reader-options.ts'

/** Tables that one reader of a database fills: those of a contract family, or of the stored state. */
type Family = Pick<Handler | StateWriter, 'family' | 'account'>

/**
 * Checks that the database belongs to this chain, that no other reader fills the same tables, and that the settings
 * fit what was indexed.
 * @returns the first block to request when nothing is committed yet.
 * @throws FatalError `CHAIN_MISMATCH` or `READER_SETTINGS_CHANGED`.
 */
export async function checkReader(
  store: Store,
  settings: ReaderSettings,
  families: readonly Family[],
  chainId: string,
  logger: Logger,
): Promise<number> {
  await claimChain(store, chainId)
  for (const family of families) await claimFamily(store, family, settings.name)
  if (settings.delete_data) {
    logger.warn({}, 'delete_data is set: the rows of this reader are deleted and indexed again')
    await store.wipe(async (statements) => {
      await wipeFeed(statements, settings.name)
      for (const table of ['chain.gaps', 'chain.imports'])
        await statements.run(`DELETE FROM ${table} WHERE reader = $1`, [settings.name])
    })
  }
  const position = store.position
  if (position === null) return Math.max(settings.start_block, 1)
  if (settings.start_block > position.num + 1) return settings.start_block
  if (settings.start_block !== 0 && settings.start_block < store.startBlock) {
    throw new FatalError(
      'READER_SETTINGS_CHANGED',
      `reader ${settings.name}: start_block ${settings.start_block} is below ${store.startBlock}, where this reader began; ` +
        'earlier blocks cannot be added to what is indexed',
    )
  }
  if (settings.stop_block !== 0 && settings.stop_block < position.num) {
    throw new FatalError(
      'READER_SETTINGS_CHANGED',
      `reader ${settings.name}: stop_block ${settings.stop_block} is below block ${position.num}, which is indexed already`,
    )
  }
  return store.startBlock
}

/**
 * Refuses to index into what an import has not finished.
 *
 * @throws FatalError `IMPORT_UNFINISHED`.
 */
export async function checkImport(store: Store, reader: string): Promise<void> {
  const [unfinished] = await store.query<{ kind: string; source: string }>(
    'SELECT kind, source FROM chain.imports WHERE reader = $1 AND finished_at IS NULL',
    [reader],
  )
  if (unfinished)
    throw new FatalError(
      'IMPORT_UNFINISHED',
      `the import of ${unfinished.source} for reader ${reader} is unfinished`,
    )
}

async function claimChain(store: Store, chainId: string): Promise<void> {
  await store.query(
    'INSERT INTO chain.identity (chain_id) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM chain.identity)',
    [chainId],
  )
  const client = {
    query: async (text: string) => ({ rows: await store.query<{ chain_id: string }>(text, []) }),
  }
  await checkDatabaseChain(client, chainId)
}

async function claimFamily(store: Store, handler: Family, reader: string): Promise<void> {
  await store.query(
    'INSERT INTO chain.sources (family, account, reader) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [handler.family, handler.account, reader],
  )
  const rows = await store.query<{ account: string; reader: string }>(
    'SELECT account, reader FROM chain.sources WHERE family = $1',
    [handler.family],
  )
  const source = rows[0]!
  if (source.account !== handler.account || source.reader !== reader) {
    throw new FatalError(
      'READER_SETTINGS_CHANGED',
      `the database's ${handler.family} tables belong to reader ${source.reader} with contract ${source.account}; ` +
        `reader ${reader} with contract ${handler.account} needs its own database`,
    )
  }
}

/** Checks that stored state is complete: rows from before the start of its writer are unknown until they are written again.
 *
 * @throws FatalError `READER_SETTINGS_CHANGED` when blocks were indexed without it.
 */
export async function checkStateWriters(
  store: Store,
  stateWriters: readonly StateWriter[],
  reader: string,
  startBlock: number,
  logger: Logger,
): Promise<void> {
  for (const stateWriter of stateWriters) {
    const state = await stateWriter.load((text, values) => store.query(text, values))
    if (store.position !== null && !stateWriter.hasBegun(state)) {
      throw new FatalError(
        'READER_SETTINGS_CHANGED',
        `reader ${reader}: the handler ${stateWriter.family} was added after block ${store.position.num} was indexed; ` +
          'what was written before would be missing, so the reader has to index again (delete_data)',
      )
    }
    if (store.position === null && startBlock > 1) {
      logger.warn(
        { handler: stateWriter.family, startBlock },
        'rows that were written before the first block, and that the node does not send with it, are not known',
      )
    }
  }
}
