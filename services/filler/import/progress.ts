import type { NodeBlock } from '../../core/chain-node/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { Store } from '../store/index.ts'

/** What an import is of. */
export interface ImportSubject {
  readonly kind: 'database' | 'state'
  /** Without credentials. */
  readonly source: string
  readonly fingerprint: string
  readonly block: NodeBlock
}

/**
 * Begins an import, or continues an unfinished one over the same source. What an unfinished one over another has written
 * is deleted first.
 *
 * @throws FatalError `IMPORT_TARGET_FILLED`.
 */
export async function beginImport(store: Store, subject: ImportSubject): Promise<void> {
  const { reader } = store.lease
  if (store.position !== null)
    throw new FatalError(
      'IMPORT_TARGET_FILLED',
      `reader ${reader} stands at block ${store.position.num}; only an empty database takes an import`,
    )
  const { kind, source, fingerprint, block } = subject
  const [known] = await store.query<{ same: boolean }>(
    'SELECT finished_at IS NULL AND kind = $2 AND fingerprint = $3 AS same FROM chain.imports WHERE reader = $1',
    [reader, kind, fingerprint],
  )
  if (known?.same === true) return
  await store.wipe(async (statements) => {
    await statements.run('DROP SCHEMA IF EXISTS import CASCADE', [])
    await statements.run('DELETE FROM chain.import_steps WHERE reader = $1', [reader])
    await statements.run('DELETE FROM chain.imports WHERE reader = $1', [reader])
    // What listings need of the log until they are written.
    await statements.run('CREATE SCHEMA import', [])
    await statements.run('CREATE TABLE import.mints (asset_id bigint NOT NULL, seq bigint NOT NULL)', [])
    await statements.run('CREATE TABLE import.medians (sale_id bigint NOT NULL, median numeric NOT NULL)', [])
    await statements.run(
      'CREATE TABLE import.starting_bids (auction_id bigint NOT NULL, amount bigint NOT NULL)',
      [],
    )
    await statements.run(
      'CREATE TABLE import.auction_changes (auction_id bigint NOT NULL, block integer NOT NULL, time_ms bigint NOT NULL)',
      [],
    )
    await statements.run(
      `INSERT INTO chain.imports (reader, kind, source, fingerprint, block_num, block_time, block_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [reader, kind, source, fingerprint, block.num, block.timeMs, Buffer.from(block.id, 'hex')],
    )
  })
}

/** Names of the steps that are done. */
export async function readSteps(store: Store): Promise<Set<string>> {
  const rows = await store.query<{ step: string }>('SELECT step FROM chain.import_steps WHERE reader = $1', [
    store.lease.reader,
  ])
  return new Set(rows.map(({ step }) => step))
}

/** Ends an import: the reader stands at its block from now on. */
export async function finishImport(store: Store, block: NodeBlock): Promise<void> {
  const { reader } = store.lease
  await store.begin(
    { num: block.num, id: Buffer.from(block.id, 'hex'), timeMs: block.timeMs },
    async (statements) => {
      await statements.run('DROP SCHEMA import CASCADE', [])
      await statements.run('DELETE FROM chain.import_steps WHERE reader = $1', [reader])
      await statements.run('UPDATE chain.imports SET finished_at = now() WHERE reader = $1', [reader])
    },
  )
}
