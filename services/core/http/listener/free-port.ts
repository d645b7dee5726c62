import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections, and to servers that ask for any. */
const [FIRST, END] = [10_000, 32_000]

/**
 * A TCP port of 127.0.0.1 that is free now, and outside the range of ephemeral ports: a server may
 * be started on it again and again.
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
