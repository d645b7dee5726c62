import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { RequestError } from './request-error.ts'

const decoders = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

/** Whether a request announces a body that is not empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Media type of a body in lower case, without its parameters; empty text when there is none. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
}

/**
 * Reads a body as UTF-8 text, decompressed.
 *
 * @param maxBytes largest body, as sent and as decompressed.
 * @throws RequestError 400 cut off or not compressed as it says, 413 over `maxBytes`, 415 unknown compression.
 */
export async function readBodyText(request: IncomingMessage, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request, maxBytes)
  return decompress(bytes, request.headers['content-encoding'] ?? 'identity', maxBytes)
}

function tooLarge(maxBytes: number): RequestError {
  const mebi = maxBytes / 2 ** 20
  const size = mebi >= 1 ? `${mebi} MB` : `${maxBytes / 2 ** 10} KB`
  // Whoever sends too much is not read to the end: the connection cannot be used again.
  return new RequestError(413, `The body is larger than ${size}`, { Connection: 'close' })
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) break
      chunks.push(chunk)
    }
  } catch (cause) {
    throw new RequestError(400, 'The body ended early', cause instanceof Error ? { Connection: 'close' } : {})
  }
  if (bytes > maxBytes) throw tooLarge(maxBytes)
  return Buffer.concat(chunks)
}

async function decompress(bytes: Buffer, encoding: string, maxBytes: number): Promise<string> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes.toString('utf8')
  if (!Object.hasOwn(decoders, name)) throw new RequestError(415, `Unsupported content encoding ${name}`)
  try {
    const plain = await decoders[name as keyof typeof decoders](bytes, { maxOutputLength: maxBytes })
    return plain.toString('utf8')
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes)
    throw new RequestError(400, 'The body is not compressed as it says')
  }
}
