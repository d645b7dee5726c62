import type pg from 'pg'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { readSeals, sealedKinds, sealNext } from '../../services/core/seals/index.ts'
import type { KindSeals, Sealing } from '../../services/core/seals/index.ts'

/**
 * Seals all irreversible blocks for a reader of every family, as the reader's background work does. Returns the seals.
 */
export async function sealDatabase(
  address: DatabaseAddress,
  reader: string,
  rangeBlocks: number,
  seal: (client: pg.ClientBase, sealing: Sealing) => Promise<unknown> = sealNext,
): Promise<KindSeals[]> {
  const client = await connectDatabase(address, { applicationName: 'seals' })
  try {
    for (const kind of sealedKinds)
      while (
        (await seal(client, { kind, reader, rangeBlocks, checkRight: () => Promise.resolve() })) === true
      );
    return await readSeals(client)
  } finally {
    await client.end()
  }
}
