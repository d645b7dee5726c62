import type pg from 'pg'
import { FatalError } from '../errors/index.ts'
import { connectDatabase } from './connection.ts'
import type { DatabaseAddress } from './connection.ts'

/**
 * Number of checks whether the pooler has switched the server session: in a single check, another client of
 * the pooler could hide the switch.
 */
const ROUNDS = 5

/**
 * Refuses a pooler in transaction mode, which gives each transaction another server session. A pooler in session mode
 * passes.
 * @param client a connection to the address, outside a transaction.
 * @throws FatalError `DATABASE_POOLER`.
 */
export async function refusePooledTransactions(client: pg.Client, address: DatabaseAddress): Promise<void> {
  const process = await readProcess(client)
  // Without a pooler, the protocol handshake contains the process id of the server session. A pooler sends another
  // process id.
  if ((client as unknown as { processID: number | null }).processID === process) return
  const second = await connectDatabase(address, {
    applicationName: 'pronghorn-start',
    isOfRestore: true,
  })
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const own = await readProcess(client)
      await second.query('BEGIN').catch(refuse)
      const others = await readProcess(second)
      const later = await readProcess(client)
      await second.query('COMMIT')
      if (others === own || later !== own) refuse()
    }
  } finally {
    await second.end()
  }

  function refuse(cause?: unknown): never {
    const message = `the pooler at ${address.host}:${address.port} gives each transaction another session`
    throw new FatalError('DATABASE_POOLER', message, { cause })
  }
}

async function readProcess(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ process: number }>('SELECT pg_backend_pid() AS process')
  return rows[0]!.process
}
