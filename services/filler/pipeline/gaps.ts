import type { Logger } from '../../core/log/index.ts'
import type { Store } from '../store/index.ts'

/** Blocks that the reader skipped, both ends included. */
export interface Gap {
  readonly first: number
  readonly last: number
}

/** Gaps of the reader, ascending. */
function listGaps(store: Store, reader: string): Promise<Gap[]> {
  return store.query<{ first: number; last: number }>(
    'SELECT first_block AS first, last_block AS last FROM chain.gaps WHERE reader = $1 ORDER BY first_block',
    [reader],
  )
}

/**
 * Records a gap if reading continues at `startBlock`, above the next block. Deletes a recorded gap above the position:
 * `start_block` was changed again before a block was indexed. Logs every remaining gap, because gaps are permanent.
 */
export async function noteGaps(
  store: Store,
  reader: string,
  startBlock: number,
  logger: Logger,
): Promise<Gap[]> {
  const next = (store.position?.num ?? 0) + 1
  await store.query('DELETE FROM chain.gaps WHERE reader = $1 AND first_block >= $2', [reader, next])
  if (store.position !== null && startBlock > next) {
    await store.query('INSERT INTO chain.gaps (reader, first_block, last_block) VALUES ($1, $2, $3)', [
      reader,
      next,
      startBlock - 1,
    ])
  }
  const gaps = await listGaps(store, reader)
  for (const { first, last } of gaps) {
    logger.warn(
      { first_block: first, last_block: last, blocks: last - first + 1 },
      'start_block was raised above the position of the reader: the blocks in between are missing from the database',
    )
  }
  return gaps
}
