import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { examine } from '../../services/appliance/index.ts'
import { buildQueryIndexes, connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

describe('the doctor', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await createTestDatabase()
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    for (const family of ['assets', 'tools']) await buildQueryIndexes(client, family)
    await client.end()
  })
  afterAll(() => database.drop())

  async function findings(families: readonly string[]): Promise<Map<string, readonly [string, string]>> {
    const found = new Map<string, readonly [string, string]>()
    await examine({
      address: database.address,
      chainHttp: 'http://127.0.0.1:1',
      certificates: tmpdir(),
      databaseDisk: null,
      backups: null,
      families,
      tell: (level, subject, note) => found.set(subject, [level, note]),
    })
    return found
  }

  it('misses the indexes that the filler will build, and none of a family that is left out', async () => {
    expect((await findings(['assets', 'tools'])).get('indexes')).toEqual(['ok', 'all there, all valid'])
    const [level, note] = (await findings(['assets', 'market'])).get('query indexes') ?? []
    expect([level, note]).toEqual(['warn', expect.stringMatching(/^not built yet: .*sales/)])
  })

  it('says what cannot be reached', async () => {
    expect((await findings([])).get('chain node')?.[0]).toBe('fail')
  })
})
