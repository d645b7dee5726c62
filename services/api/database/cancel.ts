import { connect } from 'node:net'
import type pg from 'pg'
import type { DatabaseAddress } from '../../core/database/index.ts'

/** Code of the message that cancels the statement of another connection. */
const LENGTH = 16
const CODE = 80_877_102
/** A server that takes longer to take the message is not reachable. */
const TIMEOUT_MS = 5_000

/** Key data of a connection, sent by the server at its start; `pg` stores it on its client. */
interface BackendKey {
  readonly processID: number | null
  readonly secretKey: number | null
}

/** Requests cancellation of the statement that a client runs. It may have no effect: a statement that does not check for interrupts continues. The message may also arrive after the statement has finished, so the client must not be used again. It does not count against the server's connection limit.
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
