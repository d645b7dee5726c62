import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Port range below the ephemeral ports that the system assigns. */
const [FIRST, END] = [10_000, 32_000]

/**
 * Finds a free TCP port of 127.0.0.1 outside the ephemeral range, so that a server can be restarted on the same port.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
