import { expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import { testedServer } from '../setup/tested-server.ts'

it('the tests run on the selected PostgreSQL version, 14 or 18', async () => {
  const database = await createTestDatabase('template0')
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  const version = testedServer.package === undefined ? '14' : '18'
  expect(rows[0]!.server_version.split('.')[0]).toBe(version)
  await client.end()
  await database.drop()
})
