import { checkDatabaseChain } from '../../core/database/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { wipeFeed } from '../feed/index.ts'
import type { Handler, StateWriter } from '../handlers/index.ts'
import type { Store } from '../store/index.ts'
import type { ReaderSettings } from './reader-options.ts'

/** A group of tables that a single reader of the database fills: a contract family, or the stored state. */
type Family = Pick<Handler | StateWriter, 'family' | 'account'> & Partial<Pick<StateWriter, 'hasBegun'>>

/** Settings and contracts of a reader that are checked against the database. */
interface ReaderClaims {
  readonly settings: ReaderSettings
  readonly families: readonly Family[]
  readonly chainId: string
  readonly logger: Logger
}

/**
 * Checks that the database belongs to this chain, that no other reader fills the same tables, and that the settings
 * fit the indexed data.
 * @returns the first block to request when nothing is committed yet.
 * @throws FatalError `CHAIN_MISMATCH` or `READER_SETTINGS_CHANGED`.
 */
export async function checkReader(
  store: Store,
  { settings, families, chainId, logger }: ReaderClaims,
): Promise<number> {
  await claimChain(store, chainId)
  await claimFamilies(store, settings, families, logger)
  if (settings.delete_data) {
    logger.warn({}, 'delete_data is set: the rows of this reader are deleted and indexed again')
    await store.wipe(async (statements) => {
      await wipeFeed(statements, settings.name)
      for (const table of ['chain.gaps', 'chain.imports'])
        await statements.run(`DELETE FROM ${table} WHERE reader = $1`, [settings.name])
      // The readers of a database share the ABIs.
      await statements.run("DELETE FROM chain.sealed WHERE reader = $1 OR kind = 'chain.abis'", [
        settings.name,
      ])
      await statements.run(
        "UPDATE chain.sources SET first_block = NULL, transfers_left_out = '{}' WHERE reader = $1",
        [settings.name],
      )
    })
  }
  await noteTransfers(store, settings)
  const position = store.position
  if (position === null) return Math.max(settings.start_block, 1)
  if (settings.start_block > position.num + 1) return settings.start_block
  if (settings.start_block !== 0 && settings.start_block < store.startBlock) {
    throw new FatalError(
      'READER_SETTINGS_CHANGED',
      `reader ${settings.name}: start_block ${settings.start_block} is below ${store.startBlock}, where this reader began; ` +
        'earlier blocks cannot be added',
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

interface Source {
  readonly family: string
  readonly account: string
  readonly reader: string
  readonly left_out_after: number | null
}

/**
 * Claims the tables of the configured families, and records from which block on the other families are left
 * out. A family that was left out for some blocks lacks the data of these blocks. Adding such a family is
 * refused, unless the operator accepts the loss (`start_block_override`) or the reader indexes again
 * (`delete_data`).
 */
async function claimFamilies(
  store: Store,
  settings: ReaderSettings,
  families: readonly Family[],
  logger: Logger,
): Promise<void> {
  const { name: reader } = settings
  const position = settings.delete_data ? null : store.position
  const sources = await store.query<Source>('SELECT * FROM chain.sources', [])
  for (const { family, account, hasBegun } of families) {
    const source = sources.find((each) => each.family === family)
    if (source && (source.account !== account || source.reader !== reader)) {
      throw new FatalError(
        'READER_SETTINGS_CHANGED',
        `the database's ${family} tables belong to reader ${source.reader} with contract ${source.account}; ` +
          `reader ${reader} with contract ${account} needs its own database`,
      )
    }
    // If the state history writer has not stored a block yet (`hasBegun` false), `checkStateWriters` decides whether
    // the writer may be added.
    const indexedTo = source ? source.left_out_after : hasBegun ? null : store.startBlock - 1
    const isLate = position !== null && indexedTo !== null && indexedTo !== position.num
    if (isLate) {
      const note =
        `reader ${reader}: the handler ${family} was added after block ${position.num} was indexed; ` +
        `the data of ${account} in blocks ${indexedTo + 1} to ${position.num}`
      if (hasBegun || settings.start_block_override !== true) {
        const accept = hasBegun ? '' : ', or start_block_override accepts the missing data'
        throw new FatalError(
          'READER_SETTINGS_CHANGED',
          `${note} would be missing: the reader has to index again (delete_data)${accept}`,
        )
      }
      logger.warn({ account }, `${note} is missing`)
    }
    await store.query(
      `INSERT INTO chain.sources (family, account, reader, first_block) VALUES ($1, $2, $3, $4)
       ON CONFLICT (family) DO UPDATE
         SET left_out_after = NULL, first_block = coalesce(EXCLUDED.first_block, sources.first_block)`,
      [family, account, reader, isLate ? position.num + 1 : null],
    )
  }
  await store.query(
    `UPDATE chain.sources SET left_out_after = $2
     WHERE reader = $1 AND family <> ALL ($3) AND left_out_after IS NULL`,
    [reader, store.position?.num ?? 0, families.map(({ family }) => family)],
  )
}

/**
 * Opens the range of blocks without stored transfers: from the first reversible block on, or from block 0 if no
 * transfer is stored at all.
 */
const LEAVE_OUT = `
  UPDATE chain.sources SET transfers_left_out = transfers_left_out + int4multirange(int4range(
    CASE WHEN EXISTS (SELECT FROM assets.transfers) THEN coalesce(
      (SELECT min(block_num) FROM chain.reversible_blocks WHERE reader = $1), $2::integer + 1) ELSE 0 END, NULL))
  WHERE family = 'assets' AND reader = $1 AND NOT upper_inf(transfers_left_out)`

const STORE_AGAIN = `
  UPDATE chain.sources SET transfers_left_out = transfers_left_out * int4multirange(int4range(NULL, $2::integer + 1))
  WHERE family = 'assets' AND reader = $1 AND upper_inf(transfers_left_out)`

/**
 * Records the blocks whose transfers are not stored. Within these blocks the owner of an asset may differ from the
 * recipient of its last stored transfer.
 */
async function noteTransfers(store: Store, { name, contracts }: ReaderSettings): Promise<void> {
  const entry = contracts.find(({ handler }) => handler === 'assets')
  if (entry === undefined) return
  const isStored = (entry.args as { readonly store_transfers?: unknown }).store_transfers === true
  await store.query(isStored ? STORE_AGAIN : LEAVE_OUT, [name, store.position?.num ?? 0])
}

/** Whether a family of the reader was added after blocks had been indexed without it. */
export async function hasLateFamily(store: Store, reader: string): Promise<boolean> {
  const rows = await store.query('SELECT FROM chain.sources WHERE reader = $1 AND first_block IS NOT NULL', [
    reader,
  ])
  return rows.length > 0
}

/**
 * Whether an import filled the database of the reader. The source of an import may lack ABIs from before the import
 * block.
 */
export async function wasImported(store: Store, reader: string): Promise<boolean> {
  return (await store.query('SELECT FROM chain.imports WHERE reader = $1', [reader])).length > 0
}

/**
 * Checks that the state history of each writer is complete. Rows that the chain wrote before the first block of a
 * writer stay unknown until the chain writes the rows again.
 *
 * @throws FatalError `READER_SETTINGS_CHANGED` if blocks were indexed without the writer.
 */
export async function checkStateWriters(
  store: Store,
  stateWriters: readonly StateWriter[],
  startBlock: number,
  logger: Logger,
): Promise<void> {
  for (const stateWriter of stateWriters) {
    const state = await stateWriter.load((text, values) => store.query(text, values))
    if (store.position !== null && !stateWriter.hasBegun(state)) {
      throw new FatalError(
        'READER_SETTINGS_CHANGED',
        `reader ${store.lease.reader}: the handler ${stateWriter.family} was added after block ${store.position.num} was indexed; ` +
          'the rows of earlier blocks would be missing, so the reader has to index again (delete_data)',
      )
    }
    if (store.position === null && startBlock > 1) {
      logger.warn(
        { handler: stateWriter.family, startBlock },
        'the node does not send rows from before the first block: these rows are unknown',
      )
    }
  }
}
