import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { BodyReader } from './read-body.ts'
import type { BodyLimits } from './read-body.ts'
import type { RequestError } from '../request-error.ts'

let server: Server
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
})

/** Starts a server that reads bodies and answers with their length; the path names the client. */
async function serve(limits: Partial<BodyLimits>): Promise<BodyReader> {
  const bodies = new BodyReader({ maxBytes: 1_000, maxBytesAtOnce: 4_000, maxMs: 60_000, ...limits })
  server = createServer((request, response) => {
    bodies.readText(request, request.url ?? '').then(
      (text) => response.end(String(text.length)),
      (error: unknown) => {
        const { status, message, headers } = error as RequestError
        response.writeHead(status, headers).end(message)
      },
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return bodies
}

/** Sends the first part of a body; returns the response received so far. */
function send(
  client: string,
  announced: number,
  body: string | Buffer,
  encoding = 'identity',
): { text: string } {
  const answer = { text: '' }
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
    socket.write(
      `POST ${client} HTTP/1.1\r\nHost: x\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${announced}\r\n\r\n`,
    )
    socket.write(body)
  })
  sockets.push(socket)
  socket.on('data', (chunk) => (answer.text += chunk.toString())).on('error', () => undefined)
  return answer
}

const part = 'x'.repeat(900)

describe('endless request bodies', () => {
  it('endless request bodies share a memory budget; no client gets more than a quarter', async () => {
    const bodies = await serve({})
    send('/one', 1_000, part)
    await expect.poll(() => bodies.bytes).toBe(900)
    const second = send('/one', 1_000, part)
    await expect.poll(() => second.text).toMatch(/^HTTP\/1\.1 503 [^]*too many|Too many request bodies/i)
    expect(second.text).toMatch(/retry-after: 1/i)
    for (const client of ['/two', '/three', '/four']) send(client, 1_000, part)
    await expect.poll(() => bodies.bytes).toBe(3_600)
    const fifth = send('/five', 1_000, part)
    await expect.poll(() => fifth.text).toMatch(/^HTTP\/1\.1 503 /)
    // A request body that fits into the remaining byte budget is read; afterwards its bytes are free again.
    const small = send('/six', 100, 'x'.repeat(100))
    await expect.poll(() => small.text).toMatch(/\r\n\r\n[^]*100/)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => bodies.bytes).toBe(0)
  })

  it('endless request bodies are refused after a time limit', async () => {
    const bodies = await serve({ maxMs: 50 })
    const late = send('/one', 1_000, part)
    await expect.poll(() => late.text).toMatch(/^HTTP\/1\.1 408 [^]*The body took longer than 50 ms/)
    expect(bodies.bytes).toBe(0)
  })
})

describe('a request body', () => {
  it('a body with too large a Content-Length is refused before it is read; any other body is refused when it exceeds the limit', async () => {
    await serve({})
    const announced = send('/one', 1_001, '')
    await expect.poll(() => announced.text).toMatch(/^HTTP\/1\.1 413 /)
    const packed = gzipSync('x'.repeat(100_000))
    const bomb = send('/two', packed.length, packed, 'gzip')
    await expect.poll(() => bomb.text).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('a byte order mark at the beginning of a body is removed', async () => {
    await serve({})
    const body = Buffer.from('\ufeff{}')
    const plain = send('/one', body.length, body)
    await expect.poll(() => plain.text).toMatch(/\r\n\r\n(?:1\r\n)?2(?:\r\n|$)/)
    const packed = gzipSync(body)
    const compressed = send('/two', packed.length, packed, 'gzip')
    await expect.poll(() => compressed.text).toMatch(/\r\n\r\n(?:1\r\n)?2(?:\r\n|$)/)
  })

  it('a body of many small chunks is read whole', async () => {
    await serve({ maxBytes: 10_000, maxBytesAtOnce: 100_000 })
    const answer = { text: '' }
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    sockets.push(socket)
    socket.on('data', (bytes: Buffer) => (answer.text += bytes.toString()))
    socket.write('POST /one HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket.write(`${'1\r\nx\r\n'.repeat(1_000)}0\r\n\r\n`)
    await expect.poll(() => answer.text).toMatch(/\r\n\r\n(?:4\r\n)?1000(?:\r\n|$)/)
  })
})
