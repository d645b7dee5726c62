import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { retry } from '../../core/retry/index.ts'
import { sealedKinds } from '../../core/seals/index.ts'
import { SealedLines } from '../../core/seals/lines/index.ts'
import { unpackContent } from '../format/compression.ts'
import type { ManifestFile } from '../format/manifest.ts'
import type { DumpSource } from './dump-source.ts'
import type { QueuedFile } from './file-queue.ts'

/** How often a file with a wrong checksum is read, because the transfer may have damaged the file. */
const DAMAGED_ATTEMPTS = 3
const DAMAGED_PAUSE_MS = 200
const COPY_BYTES = 2 ** 18

/**
 * Reads a file and checks its size and SHA-256 against the manifest.
 * @throws FatalError `DUMP_DAMAGED`; RetryableError `DUMP_UNREACHABLE`.
 */
export function fetchFile(source: DumpSource, file: ManifestFile, signal: AbortSignal): Promise<Buffer> {
  return retry(() => fetchOnce(source, file, signal), {
    firstMs: DAMAGED_PAUSE_MS,
    attempts: DAMAGED_ATTEMPTS,
    signal,
    mayPass: (error) => error instanceof FatalError && error.code === 'DUMP_DAMAGED',
  })
}

async function fetchOnce(
  source: DumpSource,
  { path, bytes, sha256 }: ManifestFile,
  signal: AbortSignal,
): Promise<Buffer> {
  const packed = await source.read(path, bytes, signal)
  if (packed === undefined)
    throw new RetryableError('DUMP_UNREACHABLE', `${source.shown} has no file ${path}`)
  if (packed.length !== bytes)
    throw new FatalError('DUMP_DAMAGED', `${path} has ${packed.length} bytes, the manifest says ${bytes}`)
  if (createHash('sha256').update(packed).digest('hex') === sha256) return packed
  throw new FatalError('DUMP_DAMAGED', `the SHA-256 of ${path} differs from the SHA-256 in the manifest`)
}

/** Loads a file into its table in one transaction, after its rows were compared with their seals. */
export async function loadFile(
  client: pg.ClientBase,
  { table, file }: QueuedFile,
  packed: Buffer,
): Promise<void> {
  const text = await unpackContent(file.path, packed, file.content_bytes)
  if (file.sealed !== undefined) checkSealed(table.columns, file, text)
  await client.query('BEGIN')
  try {
    const rows = await copyText(
      client,
      `${table.name} (${table.columns.map((name) => `"${name}"`).join(', ')})`,
      text,
    )
    if (rows !== file.rows)
      throw new FatalError('DUMP_DAMAGED', `${file.path} has ${rows} rows, the manifest says ${file.rows}`)
    await client.query('INSERT INTO restore.files (path) VALUES ($1)', [file.path])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw asDamage(file, error)
  }
}

function checkSealed(columns: readonly string[], { path, sealed }: ManifestFile, text: Buffer): void {
  const kind = sealedKinds.find(({ name }) => name === sealed!.kind)
  if (kind === undefined || kind.columns.some((column) => !columns.includes(column)))
    throw new FatalError(
      'DUMP_UNFIT',
      `${path}: this version does not seal ${sealed!.kind}, or the file lacks a sealed column`,
    )
  const ranges = sealed!.ranges.map(([firstBlock, rows, digest]) => ({ firstBlock, rows, digest }))
  const wrong = new SealedLines(kind, columns, ranges).read(text)
  if (wrong === undefined) return
  throw new FatalError(
    'DUMP_DAMAGED',
    `${path}: the rows of ${kind.name} from block ${wrong.firstBlock} do not match their seal`,
  )
}

async function copyText(client: pg.ClientBase, target: string, text: Buffer): Promise<number> {
  const stream = client.query(copyFrom(`COPY ${target} FROM STDIN`))
  const done = finished(stream)
  // `await done` below reports an error of the stream. If the error comes before `await done`, this handler prevents an
  // unhandled rejection.
  done.catch(() => undefined)
  for (let at = 0; at < text.length; at += COPY_BYTES)
    if (!stream.write(text.subarray(at, at + COPY_BYTES))) await Promise.race([once(stream, 'drain'), done])
  stream.end()
  await done
  return stream.rowCount
}

/** Converts PostgreSQL errors of classes 22 and 23 to `DUMP_DAMAGED`: a line is not a valid row of the table. */
function asDamage({ path }: ManifestFile, cause: unknown): unknown {
  const { code } = cause as { readonly code?: unknown }
  if (typeof code !== 'string' || !/^(?:22|23)...$/.test(code)) return cause
  return new FatalError('DUMP_DAMAGED', `${path}: PostgreSQL refuses rows of this file`, { cause })
}
