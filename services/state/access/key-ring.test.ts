import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Queryable } from './api-keys.ts'
import { KeyRing } from './key-ring.ts'

const API_KEY = '0123456789ab'

/**
 * Simulates a database with one current signing key and one API key. If `hangMs` is set, each statement fails
 * after that time; with null, statements succeed.
 */
class KeysDatabase {
  hangMs: number | null = null
  retired: readonly Date[] = []

  readonly query: Queryable['query'] = async (statement) => {
    if (this.hangMs !== null) {
      await sleep(this.hangMs)
      throw new Error('timeout')
    }
    const signing = [...this.retired, null].map((retiredAt, i) => ({
      id: `key ${i}`,
      secret: Buffer.alloc(32, i),
      retiredAt,
    }))
    const text = typeof statement === 'string' ? statement : statement.text
    const rows = text.includes('signing_keys') ? signing : [{ id: API_KEY, expires: null }]
    return { rows } as never
  }
}

it('cached keys above their maximum age are not used, even if the database takes long to report an error', async () => {
  const database = new KeysDatabase()
  const ring = new KeyRing(database, { freshMs: 20, usableMs: 200, unknownMs: 1 })
  await ring.refresh()
  database.hangMs = 1
  await sleep(30)
  await ring.refresh()
  expect(await ring.isActive(API_KEY, 0)).toBe(true)
  database.hangMs = 250
  await expect(ring.refresh()).rejects.toMatchObject({ status: 503 })
  await expect(ring.current()).rejects.toMatchObject({ status: 503 })
})

it('an unknown API key is answered with 503, not refused, if its token is newer than the cached keys and the database fails', async () => {
  const database = new KeysDatabase()
  const ring = new KeyRing(database)
  await ring.refresh()
  database.hangMs = 1
  expect(await ring.isActive('ffffffffffff', 0)).toBe(false)
  await expect(ring.isActive('ffffffffffff', Date.now() / 1_000)).rejects.toMatchObject({ status: 503 })
})

it('tokens are signed with the key that retires first, until it retires', async () => {
  const database = new KeysDatabase()
  const now = Date.now()
  database.retired = [new Date(now - 5_000), new Date(now + 300), new Date(now + 60_000)]
  const ring = new KeyRing(database)
  expect((await ring.current()).id).toBe('key 1')
  await expect.poll(async () => (await ring.current()).id).toBe('key 2')
  database.retired = [new Date(now - 5_000)]
  const later = new KeyRing(database)
  expect((await later.current()).id).toBe('key 1')
})
