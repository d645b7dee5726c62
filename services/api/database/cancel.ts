import { connect } from 'node:net'
import type pg from 'pg'
import type { DatabaseAddress } from '../../core/database/index.ts'

/** Length of the CancelRequest message of the PostgreSQL protocol, bytes. */
const LENGTH = 16
/** Request code of the CancelRequest message. */
const CODE = 80_877_102
/** Time limit for sending the cancel request, ms. */
const TIMEOUT_MS = 5_000

/**
 * Process id and secret key of a connection. The server sends both when the connection starts; `pg` stores them in
 * private members of its client.
 */
interface BackendKey {
  readonly processID: number | null
  readonly secretKey: number | null
}

/**
 * Requests cancellation of the statement that a connection runs.
 *
 * - The request may have no effect, because a statement that does not check for interrupts continues.
 * - The request may arrive after the statement has finished and cancel a later statement of the connection, so the
 *   connection must not be reused.
 * - The request uses a connection of its own, which does not count against the server's connection limit.
 */
export function cancelStatement({ host, port }: DatabaseAddress, client: pg.PoolClient): void {
  const { processID, secretKey } = client as unknown as BackendKey
  if (processID === null || secretKey === null) return
  const message = Buffer.alloc(LENGTH)
  message.writeInt32BE(LENGTH, 0)
  message.writeInt32BE(CODE, 4)
  message.writeInt32BE(processID, 8)
  message.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
  socket.on('error', () => undefined)
  socket.on('connect', () => socket.end(message))
  socket.resume()
}
