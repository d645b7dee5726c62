import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../tests/setup/database.ts'
import { connectDatabase, createPool } from './connection.ts'
import { answerWithin } from './late-loop.ts'

const limits = { applicationName: 'test', connectTimeoutMs: 400 }
/** Limits within which a busy machine connects to a database server. */
const reachable = { ...limits, connectTimeoutMs: 2_000 }
/** Duration in ms for which the test blocks the event loop: longer than `reachable.connectTimeoutMs`. */
const BLOCKED_MS = 2_500

/** Blocks the event loop for `ms` milliseconds. */
function stall(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

describe('a blocked event loop', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase('template0')
  })
  afterAll(() => database.drop())

  it('a blocked event loop does not make a database connection fail', async () => {
    const pool = createPool(database.address, { ...reachable, max: 1 })
    const answers = [
      pool.query('SELECT 1'),
      pool.query('SELECT 2'),
      connectDatabase(database.address, reachable).then((client) => client.end()),
    ]
    stall(BLOCKED_MS)
    await Promise.all(answers)
    await pool.end()
  })

  it('a blocked event loop causes no time-out for an answer that arrives while the loop is blocked', async () => {
    let asked = 0
    const work = (): Promise<string> => {
      asked++
      return sleep(50, 'answer')
    }
    const answer = answerWithin(work, 400, 'the database')
    stall(1_000)
    expect(await answer).toBe('answer')
    expect(asked).toBeLessThanOrEqual(2)
  })
})

describe('a database server that does not answer', () => {
  it('a database server that does not answer causes an error after the time limit', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const address = { host: '127.0.0.1', port, user: 'a', password: 'b', database: 'c' }
    const pool = createPool(address, { ...limits, max: 1 })
    await expect(pool.query('SELECT 1')).rejects.toThrow(/timeout/)
    await expect(connectDatabase(address, limits)).rejects.toThrow(/timeout/)
    await expect(answerWithin(() => new Promise(() => undefined), 300, 'the server')).rejects.toThrow(
      'the server did not answer within 300 ms',
    )
    silent.close()
  })
})
