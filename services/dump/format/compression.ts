import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { FatalError } from '../../core/errors/index.ts'

type Compress = (content: Buffer) => Promise<Buffer>
type Decompress = (packed: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>

/** Zstandard functions of Node.js 22.15 and later. The type definitions are of Node.js 20, which lacks them. */
const zstd = zlib as unknown as {
  readonly zstdCompress?: Parameters<typeof promisify>[0]
  readonly zstdDecompress?: Parameters<typeof promisify>[0]
}

interface Compression {
  readonly suffix: string
  readonly compress: Compress | undefined
  readonly decompress: Decompress | undefined
}

const gzipFiles: Compression = {
  suffix: '.gz',
  compress: promisify<Buffer, Buffer>(zlib.gzip),
  decompress: promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip),
}
const zstdFiles: Compression = {
  suffix: '.zst',
  compress: zstd.zstdCompress && (promisify(zstd.zstdCompress) as unknown as Compress),
  decompress: zstd.zstdDecompress && (promisify(zstd.zstdDecompress) as unknown as Decompress),
}

const preferred = zstdFiles.compress === undefined ? gzipFiles : zstdFiles

/** File suffix of the compression with which this process writes dump files: zstd if Node.js has it, else gzip. */
export const packedSuffix = preferred.suffix

/** Compresses the content of a dump file. */
export const packContent: Compress = preferred.compress!

/** Whether this process can decompress a file, by the suffix of its path. */
export const isReadable = (path: string): boolean =>
  path.endsWith(gzipFiles.suffix) || zstdFiles.decompress !== undefined

/**
 * Decompresses a file, and stops as soon as the content exceeds the size in the manifest.
 *
 * @throws FatalError `DUMP_DAMAGED`.
 */
export async function unpackContent(path: string, packed: Buffer, bytes: number): Promise<Buffer> {
  const { decompress } = path.endsWith(zstdFiles.suffix) ? zstdFiles : gzipFiles
  // zlib refuses 0 as the maximum length of its output.
  const content = await decompress!(packed, { maxOutputLength: Math.max(bytes, 1) }).catch(
    (cause: unknown) => {
      throw new FatalError('DUMP_DAMAGED', `${path} cannot be decompressed to ${bytes} bytes`, { cause })
    },
  )
  if (content.length === bytes) return content
  throw new FatalError(
    'DUMP_DAMAGED',
    `${path} has ${content.length} bytes of rows, the manifest says ${bytes}`,
  )
}
