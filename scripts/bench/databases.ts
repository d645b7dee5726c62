/** Creates the databases of a benchmark that starts its own PostgreSQL server. */
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/**
 * Creates a database without a schema, or as a copy of another database.
 * @param admin any database of the server.
 */
export async function createBareDatabase(
  admin: DatabaseAddress,
  name: string,
  template?: string,
): Promise<DatabaseAddress> {
  const client = await connectDatabase(admin, { applicationName: 'bench' })
  await client.query(`CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${template}`}`)
  await client.end()
  return { ...admin, database: name }
}

/** Creates a database with the newest schema. */
export async function createDatabase(admin: DatabaseAddress, name: string): Promise<DatabaseAddress> {
  const address = await createBareDatabase(admin, name)
  const client = await connectDatabase(address, { applicationName: 'bench' })
  await migrate(client)
  await client.end()
  return address
}
