import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** Answer to a request for a file: the bytes, and the number of bytes after which the server cuts the connection. */
export interface DumpAnswer {
  readonly status?: number
  readonly location?: string
  readonly bytes: Buffer
  readonly cutAfter?: number
}

/** Returns the answer to a request for the file `name`, possibly a damaged one. */
export type DumpFault = (name: string, bytes: Buffer) => DumpAnswer | Promise<DumpAnswer>

/** An HTTP server of the files in a folder. It supports range requests; a test may change the answers. */
export interface DumpServer {
  readonly url: string
  fault: DumpFault
  /** Number of sent bytes, and number of range requests. */
  readonly sent: { bytes: number; ranges: number }
  stop(): Promise<void>
}

export const asIs: DumpFault = (_name, bytes) => ({ bytes })

/** Starts a server of the files in a folder, on an address of this machine. */
export async function serveDump(folder: string, host = '127.0.0.1'): Promise<DumpServer> {
  const sent = { bytes: 0, ranges: 0 }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const name = request.url!.slice(1)
    const found = await readFile(join(folder, name)).catch(() => undefined)
    if (found === undefined) {
      response.writeHead(404).end()
      return
    }
    const { status, location, bytes, cutAfter } = await served.fault(name, found)
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? []
    const start = Number(from ?? 0)
    if (from !== undefined) sent.ranges++
    const part = bytes.subarray(start)
    response.writeHead(status ?? (from === undefined ? 200 : 206), {
      'content-length': part.length,
      ...(location === undefined ? {} : { location }),
      ...(from === undefined
        ? {}
        : { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    })
    const shown = cutAfter === undefined ? part : part.subarray(0, cutAfter)
    sent.bytes += shown.length
    if (cutAfter === undefined) response.end(shown)
    else response.write(shown, () => response.destroy())
  }
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const served: DumpServer = {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    fault: asIs,
    sent,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return served
}
