import { expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import { indexUntil, startChain } from './index-chain.ts'

it('a reader that is asked to stop before it reads ends, and has read nothing', async () => {
  const database = await createTestDatabase()
  const chain = await startChain({ recordings: ['main'] })
  // Without the request to stop it would go on for ever.
  await indexUntil(chain, database.address, 0, { signal: AbortSignal.abort() })
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  const { rows } = await client.query<{ n: bigint }>(
    'SELECT count(*) AS n FROM chain.readers WHERE block_num > 0',
  )
  expect(rows).toEqual([{ n: 0n }])
  await client.end()
  await chain.chain.stop()
  await database.drop()
})
