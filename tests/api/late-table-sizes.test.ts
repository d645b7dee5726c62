import { expect, it } from 'vitest'
import { startApi } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'
import { apiConfig } from './server.ts'

const MEASURING = 'measuring the table sizes for the console'

it.each([
  // PostgreSQL cannot read the size of a table while another session locks it.
  ['found a table locked', () => 'BEGIN; LOCK TABLE assets.assets IN ACCESS EXCLUSIVE MODE'],
  [
    'took longer than 3 s',
    (name: string) => `CREATE SCHEMA slow;
      CREATE FUNCTION slow.pg_table_size(oid) RETURNS bigint LANGUAGE sql AS 'SELECT pg_sleep(60); SELECT 0::bigint';
      ALTER DATABASE ${name} SET search_path = slow, pg_catalog, public`,
  ],
])(
  'if PostgreSQL cannot return table sizes, the API logs one sentence without the SQL statement (%s)',
  async (why, hinder) => {
    const lines: string[] = []
    const logger = createLogger({
      name: 'api',
      level: 'warn',
      destination: { write: (line) => lines.push(line) },
    })
    const database = await createTestDatabase()
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    await client.query(hinder(database.address.database))
    const api = await startApi({ config: apiConfig(database.address), logger })
    try {
      expect((await fetch(`${api.url}/status/data.json`)).status).toBe(200)
      const sentences = () =>
        lines
          .map((line) => (JSON.parse(line) as { msg: string }).msg)
          .filter((text) => !text.includes('chain node'))
      await expect
        .poll(sentences, { timeout: patient(20_000) })
        .toEqual([`${MEASURING} ${why}; the console shows none until the next attempt`])
      expect(lines.join('')).not.toMatch(/SELECT|WITH parts|57014|55P03/)
    } finally {
      await client.end()
      await api.close()
      await database.drop()
    }
  },
)
