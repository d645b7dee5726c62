import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Context } from 'koa'
import { negotiateEncoding } from '../http/content/index.ts'
import type { Encoding } from '../http/content/index.ts'

/** A file that does not change during the life of the process. */
export interface StaticFile {
  /** Content type with charset. */
  readonly type: string
  /** Returns the content of the file; called once, at the first request. */
  readonly load: () => Buffer
  /**
   * Seconds for which a client may reuse the file; 0 = the client revalidates each time and gets 304 if nothing
   * changed.
   */
  readonly maxAgeSeconds: number
  /** Additional response headers. */
  readonly headers?: Readonly<Record<string, string>>
}

interface LoadedFile {
  readonly etag: string
  readonly forms: Map<Encoding, Promise<Buffer>>
}

const gzipFile = promisify(gzip)
const brotliFile = promisify(brotliCompress)
const GZIP_LEVEL = 9
const BROTLI_QUALITY = 9

/**
 * Creates a handler that responds to GET or HEAD with a file. The file is read at the first request and compressed
 * once per encoding. Supports `ETag`, `If-None-Match` and `Accept-Encoding`.
 */
export function createFileAnswer(file: StaticFile): (context: Context) => Promise<void> {
  let loaded: LoadedFile | undefined
  return async (context) => {
    loaded ??= loadFile(file)
    const { etag } = loaded
    context.status = 200
    context.set('Content-Type', file.type)
    context.set('ETag', etag)
    context.set(
      'Cache-Control',
      file.maxAgeSeconds === 0 ? 'no-cache' : `public, max-age=${file.maxAgeSeconds}`,
    )
    context.set('X-Content-Type-Options', 'nosniff')
    // Remove `Last-Modified`: the header would contain the time of the response, and some clients would mistake this
    // time for the age of the file.
    context.remove('Last-Modified')
    context.vary('Accept-Encoding')
    if (file.headers) context.set(file.headers)
    if (context.fresh) {
      context.status = 304
      return
    }
    const encoding = negotiateEncoding(context.get('Accept-Encoding'))
    context.body = await formOf(loaded, encoding)
    if (encoding !== 'identity') context.set('Content-Encoding', encoding)
  }
}

function loadFile(file: StaticFile): LoadedFile {
  const body = file.load()
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  // A weak tag, because all compressed forms of the file share the tag.
  return { etag: `W/"${digest}"`, forms: new Map([['identity', Promise.resolve(body)]]) }
}

async function formOf({ forms }: LoadedFile, encoding: Encoding): Promise<Buffer> {
  const known = forms.get(encoding)
  if (known) return known
  const body = await forms.get('identity')!
  const made = forms.get(encoding) ?? compressFile(body, encoding)
  forms.set(encoding, made)
  made.catch(() => forms.delete(encoding))
  return made
}

function compressFile(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipFile(body, { level: GZIP_LEVEL })
  return brotliFile(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
}
