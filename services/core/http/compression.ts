import type { Context, Middleware } from 'koa'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** How a body is sent. */
export type Encoding = 'br' | 'gzip' | 'identity'

/** Smaller bodies are sent as they are: little would be saved. */
export const COMPRESSION_THRESHOLD_BYTES = 1_024

const brotliText = promisify(brotliCompress)
const gzipText = promisify(gzip)
/** Measured on lists of assets: smaller than gzip at its best, in less time than gzip at its fastest. */
const BROTLI_QUALITY = 3
const GZIP_LEVEL = 3

/** Header values that were read already; there are only so many browsers. */
const MAX_KNOWN_HEADERS = 200
const knownHeaders = new Map<string, Encoding>()

/** The best encoding that an `Accept-Encoding` header allows; of equals the one that compresses better. */
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
  // Unless it is named, sending a body as it is is always allowed and never preferred.
  const best = Math.max(weightOf('br'), weightOf('gzip'))
  if (best <= 0 || (weights.get('identity') ?? 0) > best) return 'identity'
  return weightOf('br') === best ? 'br' : 'gzip'
}

/** Compresses a body of text, off the main thread. */
export function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'identity') return Promise.resolve(bytes)
  if (encoding === 'gzip') return gzipText(bytes, { level: GZIP_LEVEL })
  return brotliText(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}

const COMPRESSIBLE = /^(?:text\/|application\/(?:json|javascript|manifest\+json|xml)|image\/svg\+xml)/

/** Compresses the bodies that the steps below set, unless they did it themselves. */
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
