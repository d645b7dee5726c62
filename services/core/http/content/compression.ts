import type { Context, Middleware } from 'koa'
import { promisify } from 'node:util'
import type { Transform } from 'node:stream'
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib'
import type { BrotliOptions } from 'node:zlib'

/** Content coding of a response body. */
export type Encoding = 'br' | 'gzip' | 'identity'

/** Minimum body size to compress; smaller bodies save little. */
export const COMPRESSION_THRESHOLD_BYTES = 1_024

const brotliText = promisify(brotliCompress)
const gzipText = promisify(gzip)
/**
 * Lists are compressed once and sent once, so fast compression matters more than small output. The output of Brotli 1
 * is smaller than the output of gzip 2 or 3, in half the time. Higher levels save a tenth of the bytes and take two to
 * four times as long (figures in docs/decisions.md).
 */
const BROTLI_QUALITY = 1
const GZIP_LEVEL = 2
/**
 * Minimum size in bytes of a body that another thread compresses: to hand over a smaller body takes longer than to
 * compress the body.
 */
const OTHER_THREAD_BYTES = 16_384

/** Size of the cache of parsed header values: few distinct `Accept-Encoding` values are in use. */
const MAX_KNOWN_HEADERS = 200
const knownHeaders = new Map<string, Encoding>()

/**
 * Chooses the encoding with the greatest weight in an `Accept-Encoding` header. If weights are equal, chooses the
 * encoding with the smaller output.
 */
export function negotiateEncoding(accepted: string): Encoding {
  if (accepted === '') return 'identity'
  const known = knownHeaders.get(accepted)
  if (known) return known
  const encoding = readAcceptEncoding(accepted)
  if (knownHeaders.size < MAX_KNOWN_HEADERS && accepted.length < 200) knownHeaders.set(accepted, encoding)
  return encoding
}

function readAcceptEncoding(header: string): Encoding {
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',', 50)) {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim())
    const quality = parameters.find((each) => each.startsWith('q='))
    const weight = quality === undefined ? 1 : Number(quality.slice(2))
    weights.set(name === 'x-gzip' ? 'gzip' : name, Number.isFinite(weight) ? weight : 0)
  }
  const others = weights.get('*') ?? 0
  const weightOf = (name: string): number => weights.get(name) ?? others
  // `identity` (no compression) is always accepted, but preferred only if Accept-Encoding gives it the greatest weight.
  const best = Math.max(weightOf('br'), weightOf('gzip'))
  if (best <= 0 || (weights.get('identity') ?? 0) > best) return 'identity'
  return weightOf('br') === best ? 'br' : 'gzip'
}

/** Compresses a text body; a large body off the main thread. */
export async function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  const isSmall = bytes.length <= OTHER_THREAD_BYTES
  if (encoding === 'identity') return bytes
  if (encoding === 'gzip') return isSmall ? gzipSync(bytes, gzipOptions) : gzipText(bytes, gzipOptions)
  const options = brotliOptions(bytes.length)
  return isSmall ? brotliCompressSync(bytes, options) : brotliText(bytes, options)
}

/** Creates a stream that compresses a text body off the main thread; undefined for identity. */
export function createCompressor(encoding: Encoding): Transform | undefined {
  if (encoding === 'identity') return undefined
  return encoding === 'gzip' ? createGzip(gzipOptions) : createBrotliCompress(brotliOptions())
}

const gzipOptions = { level: GZIP_LEVEL }

/** @param size bytes of the text; 0 if unknown. */
function brotliOptions(size = 0): BrotliOptions {
  return {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
    },
  }
}

const COMPRESSIBLE = /^(?:text\/|application\/(?:json|javascript|manifest\+json|xml)|image\/svg\+xml)/

/** Creates the middleware that compresses response bodies, unless they are already compressed. */
export function createCompressionStep(): Middleware {
  return async (context, next) => {
    await next()
    const bytes = compressibleBody(context)
    if (!bytes) return
    context.vary('Accept-Encoding')
    const encoding = negotiateEncoding(context.get('Accept-Encoding'))
    if (encoding === 'identity') return
    context.body = await compress(bytes, encoding)
    context.set('Content-Encoding', encoding)
  }
}

function compressibleBody(context: Context): Buffer | undefined {
  const { body } = context as { body: unknown }
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return undefined
  if (body.length < COMPRESSION_THRESHOLD_BYTES || context.response.get('Content-Encoding') !== '')
    return undefined
  if (!COMPRESSIBLE.test(context.response.get('Content-Type'))) return undefined
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : body
}
