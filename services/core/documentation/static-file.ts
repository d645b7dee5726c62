import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'koa'

/** A file that never changes while the process lives. */
export interface StaticFile {
  /** Content type, charset included. */
  readonly type: string
  /** The bytes; called once, at the first request. */
  readonly load: () => Buffer
  /** Seconds for which a client need not ask again; 0 = it asks every time, and hears 304 while nothing changed. */
  readonly maxAgeSeconds: number
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
}

interface LoadedFile {
  readonly body: Buffer
  readonly zipped: Buffer
  readonly etag: string
}

const compress = promisify(gzip)

/**
 * Answers a GET or HEAD with a file. It is read and compressed once, when it is first asked for; `ETag`,
 * `If-None-Match` and `Accept-Encoding` are understood.
 */
export function createFileAnswer(file: StaticFile): (context: Context) => Promise<void> {
  let loaded: Promise<LoadedFile> | undefined
  return async (context) => {
    loaded ??= loadFile(file).catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    const { body, zipped, etag } = await loaded
    context.status = 200
    context.set('Content-Type', file.type)
    context.set('ETag', etag)
    context.set(
      'Cache-Control',
      file.maxAgeSeconds === 0 ? 'no-cache' : `public, max-age=${file.maxAgeSeconds}`,
    )
    context.set('X-Content-Type-Options', 'nosniff')
    // The moment of an answer says nothing about a file, and some clients would compare it.
    context.remove('Last-Modified')
    context.vary('Accept-Encoding')
    if (file.headers) context.set(file.headers)
    if (context.fresh) {
      context.status = 304
      return
    }
    const isZipped = context.acceptsEncodings('gzip', 'identity') === 'gzip'
    if (isZipped) context.set('Content-Encoding', 'gzip')
    context.body = isZipped ? zipped : body
  }
}

async function loadFile(file: StaticFile): Promise<LoadedFile> {
  const body = file.load()
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  // Weak: the same tag stands for the compressed form.
  return { body, zipped: await compress(body, { level: 9 }), etag: `W/"${digest}"` }
}
