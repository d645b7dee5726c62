import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { secondsText } from '../../limits/index.ts'
import type { Limit } from '../../limits/index.ts'
import { ByteBudget, SHARE_OF_ONE } from '../limits/index.ts'
import { RequestError } from '../request-error.ts'

/** Skips a byte order mark, which some clients send before JSON. */
const utf8 = new TextDecoder()

/** Maximum characters of an unknown encoding name that the error message repeats. */
const MAX_ENCODING_SHOWN = 40
const decoders = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

/** Whether a request announces a body that is not empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Media type of the body in lower case without parameters; empty if the request has none. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
}

export interface BodyLimits {
  /** Maximum body size in bytes, before and after decompression. */
  readonly maxBytes: number
  /** Maximum bytes of all bodies that are being read. */
  readonly maxBytesAtOnce: number
  /** Maximum time to receive a body, in ms. */
  readonly maxMs: number
}

/** Header `Retry-After` of the response with status 503, in seconds. */
const RETRY_AFTER_SECONDS = '1'
const MAX_MS = 20_000

/**
 * Describes the limits of request bodies for the documentation.
 * @param body setting that limits the size of one body.
 * @param together setting that limits the size of all bodies that are being read.
 */
export function describeBodyLimits(
  body: Pick<Limit, 'setting' | 'value'>,
  together: Pick<Limit, 'setting' | 'value'>,
): readonly Limit[] {
  return [
    { ...body, counts: 'bytes of a body, as sent and as decompressed', per: 'request', beyond: '413' },
    {
      ...together,
      counts: `bytes of all bodies that are being read; one client address may use 1/${1 / SHARE_OF_ONE} of these bytes`,
      per: 'process',
      beyond: '503 with `Retry-After`',
    },
    {
      counts: 'time until a client has sent the body',
      per: 'request',
      value: secondsText(MAX_MS),
      beyond: '408',
    },
  ]
}

/** Creates body limits with the time limit that all servers share. */
export function bodyLimits(maxBytes: number, maxBytesAtOnce: number): BodyLimits {
  return { maxBytes, maxBytesAtOnce, maxMs: MAX_MS }
}

/** Reads request bodies within a byte budget for all clients, of which one client may use a part only. */
export class BodyReader {
  readonly #limits: BodyLimits
  readonly #budget: ByteBudget

  constructor(limits: BodyLimits) {
    this.#limits = limits
    this.#budget = new ByteBudget({ maxBytes: limits.maxBytesAtOnce })
  }

  /** Bytes of the bodies that are being read. */
  get bytes(): number {
    return this.#budget.bytes
  }

  /**
   * Reads a body as UTF-8 text, decompressed.
   *
   * @param client key of the client to whose share of the budget the body counts.
   * @throws RequestError 400 truncated or wrongly compressed, 408 too slow, 413 too large, 415 unknown compression, 503
   * budget used up.
   */
  async readText(request: IncomingMessage, client: string): Promise<string> {
    const { maxBytes } = this.#limits
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
    const taken = { bytes: 0 }
    try {
      const bytes = await readBytes(request, this.#limits, (length) => {
        if (!this.#budget.take(client, length)) throw tooMany()
        taken.bytes += length
      })
      return await decompress(bytes, request.headers['content-encoding'] ?? 'identity', maxBytes)
    } finally {
      this.#budget.giveBack(client, taken.bytes)
    }
  }
}

function tooMany(): RequestError {
  const headers = { Connection: 'close', 'Retry-After': RETRY_AFTER_SECONDS }
  return new RequestError(503, 'Too many request bodies in progress: try again later', headers)
}

function tooLarge(maxBytes: number): RequestError {
  const mebi = maxBytes / 2 ** 20
  const size = mebi >= 1 ? `${mebi} MB` : `${maxBytes / 2 ** 10} KB`
  // Close the connection: the rest of a too large body is not read, so the connection cannot be reused.
  return new RequestError(413, `The body is larger than ${size}: send fewer values, or several requests`, {
    Connection: 'close',
  })
}

/**
 * Number of chunks after which the chunks of a body are merged. A chunk of a single byte takes several hundred bytes of
 * memory, which the budget does not count.
 */
const MAX_SMALL_CHUNKS = 256

function readBytes(
  request: IncomingMessage,
  { maxBytes, maxMs }: BodyLimits,
  take: (length: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const small: Buffer[] = []
    let bytes = 0
    const end = (): void => {
      clearTimeout(late)
      request.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
      // Stop reading a refused body. Later stream errors need a listener, because a stream error without a listener
      // ends the process.
      request.pause().on('error', () => undefined)
    }
    const refuse = (error: RequestError): void => {
      end()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > maxBytes) {
        refuse(tooLarge(maxBytes))
        return
      }
      try {
        take(chunk.length)
        small.push(chunk)
        if (small.length === MAX_SMALL_CHUNKS) chunks.push(Buffer.concat(small.splice(0)))
      } catch (error) {
        refuse(error as RequestError)
      }
    }
    const onEnd = (): void => {
      end()
      resolve(Buffer.concat([...chunks, ...small]))
    }
    const onCut = (): void => {
      refuse(new RequestError(400, 'The body ended early', { Connection: 'close' }))
    }
    const late = setTimeout(() => {
      refuse(new RequestError(408, `The body took longer than ${maxMs} ms`, { Connection: 'close' }))
    }, maxMs)
    request.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
  })
}

async function decompress(bytes: Buffer, encoding: string, maxBytes: number): Promise<string> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return utf8.decode(bytes)
  if (!Object.hasOwn(decoders, name))
    throw new RequestError(
      415,
      `Unsupported content encoding ${name.slice(0, MAX_ENCODING_SHOWN)}: send ${Object.keys(decoders).join(', ')} or none`,
    )
  try {
    const plain = await decoders[name as keyof typeof decoders](bytes, { maxOutputLength: maxBytes })
    return utf8.decode(plain)
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes)
    throw new RequestError(
      400,
      `The body is not valid ${name} data, although Content-Encoding is ${name}: correct the header or the body`,
    )
  }
}
