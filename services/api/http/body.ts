import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { RawValue } from '../endpoint/index.ts'
import { RequestError } from '../endpoint/index.ts'
import { parseJsonBody } from './json-body.ts'
import { parseQueryString } from './query-string.ts'

/** Largest body, as sent and as decompressed. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024

const decoders = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

/**
 * Reads the parameters in the body of a request: JSON or an urlencoded form, on any method. Other content types are
 * ignored.
 *
 * @throws RequestError 400 malformed, 413 over 10 MB, 415 unknown compression.
 */
export async function readBodyParameters(request: IncomingMessage): Promise<Map<string, RawValue>> {
  const none = new Map<string, RawValue>()
  const { headers } = request
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return none
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded') return none
  const text = await decompress(await readBytes(request), headers['content-encoding'] ?? 'identity')
  if (type === 'application/json') return parseJsonBody(text)
  const parameters = parseQueryString(text.trim())
  if (!parameters) throw new RequestError(400, 'The body has too many parameters')
  return parameters
}

function tooLarge(): RequestError {
  // Whoever sends too much is not read to the end: the connection cannot be used again.
  return new RequestError(413, 'The body is larger than 10 MB', { Connection: 'close' })
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) break
      chunks.push(chunk)
    }
  } catch (cause) {
    throw new RequestError(400, 'The body ended early', cause instanceof Error ? { Connection: 'close' } : {})
  }
  if (bytes > MAX_BODY_BYTES) throw tooLarge()
  return Buffer.concat(chunks)
}

async function decompress(bytes: Buffer, encoding: string): Promise<string> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes.toString('utf8')
  if (!Object.hasOwn(decoders, name)) throw new RequestError(415, `Unsupported content encoding ${name}`)
  try {
    const plain = await decoders[name as keyof typeof decoders](bytes, { maxOutputLength: MAX_BODY_BYTES })
    return plain.toString('utf8')
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw new RequestError(400, 'The body is not compressed as it says')
  }
}
