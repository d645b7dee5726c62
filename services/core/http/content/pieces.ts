import type { ServerResponse } from 'node:http'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createCompressor } from './compression.ts'
import type { Encoding } from './compression.ts'

/**
 * Writes a body in pieces with back-pressure and ends the response.
 * @returns bytes of the body as sent; fewer if the client disconnected.
 */
export async function writePieces(
  response: ServerResponse,
  pieces: Iterable<Uint8Array>,
  encoding: Encoding,
): Promise<number> {
  const sent = { bytes: 0 }
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent.bytes += chunk.length
      done(null, chunk)
    },
  })
  const source = Readable.from(pieces, { objectMode: true, highWaterMark: 1 })
  const compressor = createCompressor(encoding)
  const steps = compressor ? [source, compressor, count, response] : [source, count, response]
  // Disable the warning about listener leaks: with the listeners of limits and measurements, the listeners of the
  // pipeline exceed the ten that Node.js expects.
  response.setMaxListeners(0)
  try {
    await pipeline(steps)
  } catch (error) {
    if (!hasLeft(error)) throw error
  }
  return sent.bytes
}

/** Whether the error means that the client disconnected. */
function hasLeft(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && leavings.has(error.code)
  )
}

const leavings: ReadonlySet<string> = new Set([
  ...['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE', 'ERR_STREAM_DESTROYED'],
  ...['ECONNRESET', 'EPIPE', 'ABORT_ERR'],
])
