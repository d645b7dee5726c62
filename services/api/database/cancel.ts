import { connect } from 'node:net'
import type pg from 'pg'
import type { DatabaseAddress } from '../../core/database/index.ts'

/** Of the message that asks a server to end the statement of another connection. */
const LENGTH = 16
const CODE = 80_877_102
/** A server that takes longer to take the message is not reachable. */
const TIMEOUT_MS = 5_000

/** What the server told of a connection when it was made; `pg` has it on its client. */
interface BackendKey {
  readonly processID: number | null
  readonly secretKey: number | null
}

/**
 * Asks the server to end the statement that a client runs. It need not: one that looks at nothing until it has finished
 * goes on. Nor need the message arrive while the statement runs: a client it was sent for is not to be used again.
 * It takes no connection of the server's own limit.
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
