import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openRequestDatabase } from '../../services/api/database/request-database.ts'
import type { RequestDatabase } from '../../services/api/database/request-database.ts'
import type { Session } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

let database: TestDatabase
let admin: pg.Client
let requests: RequestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  admin = await connectDatabase(database.address, { applicationName: 'test' })
  await admin.query('CREATE TABLE public.numbers AS SELECT 0 AS number')
})
beforeEach(async () => {
  requests = await openRequestDatabase(
    { address: database.address, maxConnections: 1, maxLists: 1, maxQueryTimeMs: 60_000, slowQueryMs: 0 },
    createLogger({ name: 'test', level: 'silent' }),
  )
})
afterEach(() => requests.close())
afterAll(async () => {
  await admin.end()
  await database.drop()
})

const count = { text: 'SELECT number FROM public.numbers', values: [] }
const backend = { text: 'SELECT pg_backend_pid()', values: [] }
const add = () => admin.query('UPDATE public.numbers SET number = number + 1')

/**
 * Reads a number, increments it on another connection, and reads the number again.
 * @returns the difference.
 */
async function countTwice(session: Session): Promise<number> {
  const [[before]] = (await session.query<[number]>(count)) as [[number]]
  await add()
  const [[after]] = (await session.query<[number]>(count)) as [[number]]
  return after - before
}

describe('a snapshot', () => {
  it('all statements of a snapshot see the same data; a statement after the snapshot sees newer data', async () => {
    const seen = await requests.run(async (session) => {
      const within = await session.snapshot(() => countTwice(session))
      return [within, await countTwice(session)]
    })
    expect(seen).toEqual([0, 1])
  })

  it('a snapshot with a failing statement leaves no open transaction to the next request', async () => {
    const failed = requests.run((session) =>
      session.snapshot(() => session.query({ text: 'SELECT 1 / 0', values: [] })),
    )
    await expect(failed).rejects.toMatchObject({ code: 'DATABASE_ERROR' })
    expect(await requests.run(countTwice)).toBe(1)
  })

  it('a snapshot returns its connection for the next request', async () => {
    const [[first]] = (await requests.run((session) =>
      session.snapshot(() => session.query<[number]>(backend)),
    )) as [[number]]
    expect(await requests.run((session) => session.query(backend))).toEqual([[first]])
  })
})

describe('query plans', () => {
  it('PostgreSQL plans a named statement once, and plans an unnamed statement for the values of each execution', async () => {
    const text = 'SELECT count(*) FROM public.numbers WHERE number = $1::integer'
    const mode = {
      text: `SELECT current_setting('plan_cache_mode'), $1::integer`,
      values: [1],
    }
    const seen = await requests.run(async (session) => {
      const modes: unknown[] = []
      const inTurn = async (): Promise<void> => {
        for (let value = 1; value <= 2; value++) {
          await session.query({ name: 'known', text, values: [value] })
          for (const statement of [mode, { ...mode, name: 'mode' }])
            modes.push((await session.query<[string]>(statement))[0]![0])
        }
      }
      await inTurn()
      await session.snapshot(inTurn)
      await session.snapshot(() => session.query(mode))
      await session.snapshot(inTurn)
      const plans = await session.query({
        text: `SELECT name, generic_plans::integer, custom_plans::integer FROM pg_prepared_statements
          WHERE name = 'known'`,
        values: [],
      })
      return { plans, modes }
    })
    expect(seen.plans).toEqual([['known', 6, 0]])
    const pair = ['force_custom_plan', 'force_generic_plan']
    expect(seen.modes).toEqual([...pair, ...pair, ...pair, ...pair, ...pair, ...pair])
  })

  it('a failing statement leaves no open transaction to the next statement', async () => {
    const failing = { text: 'SELECT 1 / $1::integer', values: [0] }
    const after = await requests.run(async (session) => {
      await session.query(failing).catch(() => undefined)
      return countTwice(session)
    })
    expect(after).toBe(1)
  })
})
