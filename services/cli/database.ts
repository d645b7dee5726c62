import { connectDatabase, databaseFailure, isMigrated } from '../core/database/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { FatalError } from '../core/errors/index.ts'

/** A connection that a command works on. */
export type Client = Awaited<ReturnType<typeof connectDatabase>>

/** Runs a task on its own connection. @throws see `databaseFailure`. */
export async function withDatabase(
  sqldb: DatabaseAddress,
  applicationName: string,
  task: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await connectDatabase(sqldb, { applicationName }).catch((cause: unknown) => {
    throw databaseFailure(cause, 'the database cannot be reached', sqldb)
  })
  try {
    await task(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Refuses a database without the tables of this version. @throws FatalError `DATABASE_TOO_OLD`. */
export async function requireSchema(client: Client): Promise<void> {
  if (await isMigrated(client)) return
  throw new FatalError('DATABASE_TOO_OLD', 'the database has no tables of this version yet')
}
