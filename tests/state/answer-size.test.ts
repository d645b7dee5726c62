import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { indexUntil, startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { makeKey, startService, StateClient } from './service.ts'

const LAST = 964

let database: TestDatabase
let running: TestChain
let key: string

beforeAll(async () => {
  database = await createTestDatabase()
  running = await startChain({ recordings: ['main', 'v2'] })
  await indexUntil(running, database.address, LAST, {
    settings: {
      contracts: [
        { handler: 'state', args: { accounts: ['atomicassets'], permissions: true, history_blocks: 0 } },
      ],
    },
  })
  ;({ key } = await makeKey(database))
}, patient(60_000))

afterAll(async () => {
  await running.chain.stop()
  await database.drop()
})

describe('an answer that is too large', () => {
  const scope = 'largerows'
  const query = { account: 'atomicassets', table: 'templates', scope }

  it('an answer with table rows above the size limit is refused with its size and the largest limit that fits, packed and decoded; a request with that limit is answered', async () => {
    const rows = await connectDatabase(database.address, { applicationName: 'test' })
    const settings = { answerBytes: 4 * 2 ** 20, answersBytes: 16 * 2 ** 20 }
    const chain = { chainId: running.chain.chainId, httpUrl: running.httpUrl }
    const small = await startService(database, chain, settings)
    try {
      // A template with 20,000 bytes of data; JSON prints each byte as "200,".
      const value = Buffer.concat([Buffer.alloc(22), Buffer.from('a09c01', 'hex'), Buffer.alloc(20_000, 200)])
      await rows.query(
        `INSERT INTO state.rows SELECT 'atomicassets', 'templates', $1, n, 500, 'mallory', $2
          FROM generate_series(1, 300) n`,
        [scope, value],
      )
      const asker = new StateClient(small.url)
      await asker.login(key)
      for (const json of [false, true]) {
        // The size limit applies to rows in the format of the answer. A hundred packed rows are smaller than the limit,
        // a hundred decoded rows are larger.
        const { status, body } = await asker.get<{ code: string; message: string }>('/v0/state/table', {
          ...query,
          json,
          ...(json ? { limit: 100 } : {}),
        })
        expect([json, status, body.code]).toEqual([json, 400, 'data_table_too_large_error'])
        expect(body.message).toMatch(
          json ? /about 4\d{6} bytes, 4194304 are/ : /about 1\d{7} bytes, 4194304 are/,
        )
        const limit = Number(/limit=(\d+) or less/.exec(body.message)?.[1])
        expect(limit).toBeGreaterThan(10)
        const answered = await asker.get<{ rows: unknown[] }>('/v0/state/table', { ...query, json, limit })
        expect([answered.status, answered.body.rows.length]).toEqual([200, limit])
        expect(Number(answered.headers.get('content-length'))).toBe(Buffer.byteLength(answered.text))
        expect((await asker.get('/v0/state/table', { ...query, json, limit: limit + 1 })).status).toBe(400)
      }
    } finally {
      await rows.end()
      await small.close()
    }
  })
})
