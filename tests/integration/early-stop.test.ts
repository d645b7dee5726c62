import { expect, it } from 'vitest'
import { connectDatabase, listMissingIndexes } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import { indexUntil, startChain } from './index-chain.ts'

const noObserver = {
  committed: () => undefined,
  rolledBack: () => undefined,
  interrupted: () => undefined,
  published: () => undefined,
}

it('a reader asked to stop before it reads stops without reading a block', async () => {
  const database = await createTestDatabase()
  const chain = await startChain({ recordings: ['main'] })
  // The stop block is 0 (no end), so only the stop request ends the reader.
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

it('a reader asked to stop while it catches up stops after the commit in progress', async () => {
  const database = await createTestDatabase()
  const chain = await startChain({ recordings: ['main', 'v2'] })
  const ending = new AbortController()
  let commits = 0
  let commitsAtStop = 0
  let committedMs = 0
  await indexUntil(chain, database.address, 0, {
    signal: ending.signal,
    settings: { ship_prefetch_blocks: 5_000, db_group_blocks: 5 },
    options: {
      observer: {
        ...noObserver,
        committed() {
          commits += 1
          committedMs = performance.now()
          if (commits !== 1) return
          // 20 ms after the first commit, received blocks wait in the queue, and the next commit is in progress.
          setTimeout(() => {
            commitsAtStop = commits
            ending.abort()
          }, 20)
        },
      },
    },
  })
  const tookMs = performance.now() - committedMs
  expect(commits - commitsAtStop).toBeLessThanOrEqual(1)
  expect(tookMs).toBeLessThan(2_000)
  await chain.chain.stop()
  await database.drop()
})

it('a reader with a stop_block below the head builds its query indexes before it exits', async () => {
  const database = await createTestDatabase()
  const chain = await startChain({ recordings: ['main'] })
  await indexUntil(chain, database.address, 20, { options: { buildQueryIndexes: true } })
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  expect(await listMissingIndexes(client, 'assets')).toEqual([])
  await client.end()
  await chain.chain.stop()
  await database.drop()
})

it('a reader logs that it has reached its stop_block, also on a restart at that block', async () => {
  const database = await createTestDatabase()
  const chain = await startChain({ recordings: ['main'] })
  for (let run = 0; run < 2; run++) {
    const lines: string[] = []
    const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } })
    await indexUntil(chain, database.address, 20, { options: { logger } })
    expect(lines.at(-1)).toContain('"stop_block":20')
  }
  await chain.chain.stop()
  await database.drop()
})
