import { connectDatabase } from '../core/database/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { RetryableError } from '../core/errors/index.ts'

/** A connection that a command works on. */
export type Client = Awaited<ReturnType<typeof connectDatabase>>

/** Runs a task on its own connection. @throws RetryableError `DATABASE_UNAVAILABLE`. */
export async function withDatabase(
  sqldb: DatabaseAddress,
  applicationName: string,
  task: (client: Client) => Promise<void>,
): Promise<void> {
  const { host, port, user, database } = sqldb
  const client = await connectDatabase(sqldb, { applicationName }).catch((cause: unknown) => {
    const message = `the database ${database} at ${host}:${port} cannot be reached as ${user}`
    throw new RetryableError('DATABASE_UNAVAILABLE', message, { cause })
  })
  try {
    await task(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}
