import type { KeyObject } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { databaseFailure } from '../../core/database/index.ts'
import { refuseUnfinishedImport } from '../../core/database/imports/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { readApplied } from '../../core/database/restoring/index.ts'
import { FatalError, PronghornError, RetryableError } from '../../core/errors/index.ts'
import { readPackageVersion } from '../../core/paths/index.ts'
import { SealedLines } from '../../core/seals/lines/index.ts'
import { readPublishedState } from '../format/published-state.ts'
import { readSealSummary } from '../format/seal-summary.ts'
import { DUMP_FORMAT } from '../format/manifest.ts'
import type { Manifest, ManifestFile } from '../format/manifest.ts'
import { readPrivateKey } from '../format/signature.ts'
import { ContentCutter } from './content-cutter.ts'
import type { Content } from './content-cutter.ts'
import { DumpFolder } from './dump-folder.ts'
import { Pace } from './pace.ts'
import { readPublishedTables } from './published-tables.ts'
import type { PublishedTable } from './published-tables.ts'
import { restQuery, segmentQuery } from './row-statements.ts'
import { planSegments } from './segments.ts'
import type { PlannedSegment } from './segments.ts'
import { openSnapshot } from './snapshot.ts'

export interface PublishOptions {
  readonly database: DatabaseAddress
  readonly folder: string
  /** Number of database sessions that read concurrently. */
  readonly jobs: number
  /**
   * Share of the time that each session works, above 0 and at most 1 (the default). The session pauses for the rest of
   * the time.
   */
  readonly share?: number
  /** File with an Ed25519 private key. */
  readonly keyFile?: string
  /** Whether to read the files of sealed rows of the former publication, and to write damaged ones again. */
  readonly check?: boolean
  /** Whether to remove the files that neither the new manifest nor the former one names. */
  readonly prune: boolean
  readonly signal: AbortSignal
  readonly onProgress?: (progress: PublishProgress) => void
}

export interface PublishProgress {
  readonly done: number
  readonly of: number
  readonly rows: number
  readonly bytes: number
}

/** Result of a publication. */
export interface PublishReport {
  readonly manifest: Manifest
  readonly files: number
  /** Number of files that this publication wrote, the manifest included; `newBytes` is their size. */
  readonly newFiles: number
  readonly newBytes: number
  readonly pruned: number
  /** Whether the former publication is signed, but this one is not. */
  readonly isSignatureDropped: boolean
  readonly seconds: number
}

/** Members of the manifest that do not depend on its tables. */
type Head = Omit<Manifest, 'tables' | 'rows' | 'bytes'>

/**
 * Writes all tables of an installation as of one snapshot, in files that never change, and replaces the manifest of the
 * folder.
 *
 * @throws FatalError `PUBLISH_FAILED`, `DATABASE_DIFFERS`, `IMPORT_UNFINISHED`, `CHAIN_MISMATCH`, `USAGE`;
 * RetryableError `PUBLISH_FAILED` after a stop; the errors of `databaseFailure`.
 */
export async function publish(options: PublishOptions): Promise<PublishReport> {
  const started = performance.now()
  const key = options.keyFile === undefined ? undefined : await readPrivateKey(options.keyFile)
  const snapshot = await openSnapshot(options.database, options.jobs)
  try {
    const publication = new Publication(
      options,
      await DumpFolder.open(options.folder, options.check === true),
      snapshot.sessions,
    )
    const isSignatureDropped = key === undefined && (await publication.folder.wasSigned())
    const manifest = await publication.run(key)
    const pruned = options.prune ? await publication.folder.prune(manifest) : 0
    return {
      manifest,
      files: manifest.tables.reduce((sum, { files }) => sum + files.length, 0),
      newFiles: publication.folder.written.files,
      newBytes: publication.folder.written.bytes,
      ...{ pruned, isSignatureDropped },
      seconds: (performance.now() - started) / 1000,
    }
  } catch (error) {
    throw error instanceof PronghornError
      ? error
      : databaseFailure(error, 'the database cannot be read', options.database)
  } finally {
    await snapshot.close()
  }
}

/** A part of a table that one session reads. */
interface Part {
  readonly table: PublishedTable
  readonly segment: PlannedSegment | undefined
}

/** A database session, with the pauses that keep the session below its share of the time. */
interface Reading {
  readonly session: pg.Client
  readonly pace: Pace
}

class Publication {
  readonly folder: DumpFolder
  readonly #options: PublishOptions
  readonly #sessions: readonly pg.Client[]
  readonly #files = new Map<string, ManifestFile[]>()
  #segments: readonly PlannedSegment[] = []
  #done = 0
  #of = 0
  #rows = 0
  #bytes = 0

  constructor(options: PublishOptions, folder: DumpFolder, sessions: readonly pg.Client[]) {
    this.#options = options
    this.folder = folder
    this.#sessions = sessions
  }

  async run(key: KeyObject | undefined): Promise<Manifest> {
    const client = this.#sessions[0]!
    const head = await readHead(client)
    this.#requireSameChain(head)
    const tables = await readPublishedTables(client)
    this.#segments = await planSegments(client, this.folder.former)
    const parts = tables.flatMap((table): Part[] => [
      ...this.#segments
        .filter(({ kind }) => kind.table === table.name)
        .map((segment) => ({ table, segment })),
      { table, segment: undefined },
    ])
    this.#of = parts.length
    await this.#readAll(parts)
    const manifest = this.#manifest(head, tables)
    await this.folder.publish(manifest, key)
    return manifest
  }

  #requireSameChain({ chain_id: chainId }: Head): void {
    const { former } = this.folder
    if (former === undefined || former.chain_id === chainId) return
    const details = { held: `chain ${former.chain_id}` }
    throw new FatalError(
      'PUBLISH_FAILED',
      `${this.#options.folder} has a dump of chain ${former.chain_id}, the database is of chain ${chainId}`,
      { details },
    )
  }

  /** Reads the parts of tables in the given order. A session that has finished a part takes the next part. */
  async #readAll(parts: readonly Part[]): Promise<void> {
    const waiting = [...parts]
    let failure: unknown
    await Promise.all(
      this.#sessions.map(async (session) => {
        const reading: Reading = { session, pace: new Pace(this.#options.share ?? 1, this.#options.signal) }
        for (let part = waiting.shift(); part && failure === undefined; part = waiting.shift())
          await this.#readPart(reading, part).catch((error: unknown) => {
            failure ??= error
          })
      }),
    )
    if (failure !== undefined) throw failure as Error
  }

  async #readPart(reading: Reading, { table, segment }: Part): Promise<void> {
    if (segment === undefined) await this.#readRest(reading, table)
    else await this.#readSegment(reading, table, segment)
    await reading.pace.rest()
    this.#done++
    this.#report()
  }

  async #readSegment(reading: Reading, table: PublishedTable, segment: PlannedSegment): Promise<void> {
    const { kind, firstBlock, lastBlock, ranges, former } = segment
    const sealed = {
      kind: kind.name,
      first_block: firstBlock,
      last_block: lastBlock,
      ranges: ranges.map(({ firstBlock: first, rows, digest }): [number, number, string] => [
        first,
        rows,
        digest,
      ]),
    }
    const known = this.folder.former?.tables.find(({ name }) => name === table.name)
    const isWhole = sameNames(kind.columns, table.columns)
    if (former && isWhole && sameNames(known!.columns, table.columns) && (await this.folder.has(former))) {
      this.#add(table, former)
      return
    }
    const parts: Buffer[] = []
    await this.#copy(reading, await segmentQuery(reading.session, table, segment), (chunk) => {
      parts.push(chunk)
    })
    const text = Buffer.concat(parts)
    const wrong = new SealedLines(kind, table.columns, ranges).read(text)
    if (wrong)
      throw new FatalError(
        'DATABASE_DIFFERS',
        `${kind.name}: the rows of the range from block ${wrong.firstBlock} do not match their seal`,
      )
    const rows = ranges.reduce((sum, range) => sum + range.rows, 0)
    this.#add(table, { ...(await this.folder.put(table.name, { text, rows })), sealed })
  }

  async #readRest(reading: Reading, table: PublishedTable): Promise<void> {
    const { session } = reading
    const ends = new Map(
      this.#segments
        .filter(({ kind }) => kind.table === table.name)
        .map((segment) => [segment.kind.name, segment]),
    )
    const query = await restQuery(session, table, [...ends.values()])
    const cutter = new ContentCutter()
    const put = async (contents: readonly Content[]) => {
      for (const content of contents) this.#add(table, await this.folder.put(table.name, content))
    }
    // Makes PostgreSQL scan the index of the primary key instead of sorting a large table.
    await session.query('SET LOCAL enable_sort = off')
    await this.#copy(reading, query, (chunk) => put(cutter.push(chunk)))
    await put(cutter.end())
    await session.query('SET LOCAL enable_sort = on')
  }

  async #copy(
    { session, pace }: Reading,
    query: string,
    onChunk: (chunk: Buffer) => void | Promise<void>,
  ): Promise<void> {
    const stream = session.query(copyTo(`COPY (${query}) TO STDOUT`))
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (this.#options.signal.aborted)
        throw new RetryableError('PUBLISH_FAILED', 'the publication was stopped')
      await onChunk(chunk)
      await pace.rest()
    }
  }

  #add(table: PublishedTable, file: ManifestFile): void {
    this.#files.set(table.name, [...(this.#files.get(table.name) ?? []), file])
    this.#rows += file.rows
    this.#bytes += file.bytes
    this.#report()
  }

  #report(): void {
    const { written } = this.folder
    this.#options.onProgress?.({ done: this.#done, of: this.#of, rows: this.#rows, bytes: written.bytes })
  }

  #manifest(head: Head, tables: readonly PublishedTable[]): Manifest {
    return {
      ...head,
      rows: String(this.#rows),
      bytes: String(this.#bytes),
      tables: tables.map(({ name, columns, partitions }) => {
        const files = (this.#files.get(name) ?? []).toSorted(byPlace)
        const rows = String(files.reduce((sum, file) => sum + file.rows, 0))
        return { name, columns: [...columns], rows, partitions: [...partitions], files }
      }),
    }
  }
}

const sameNames = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((name, at) => name === other[at])

/** Order of files: files of sealed rows by kind and first block, then other files in the order of the primary key. */
function byPlace({ sealed: one }: ManifestFile, { sealed: other }: ManifestFile): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined)
  return one.kind === other.kind ? one.first_block - other.first_block : one.kind < other.kind ? -1 : 1
}

/** Reads the facts about the database that the manifest contains. */
async function readHead(client: pg.ClientBase): Promise<Head> {
  await refuseUnfinishedImport(client, null)
  const state = await readPublishedState(client)
  if (state?.readers.some(({ block_id: id }) => id === '') !== false)
    throw new FatalError('PUBLISH_FAILED', 'the database has no indexed block yet')
  return {
    format: DUMP_FORMAT,
    program: readPackageVersion(),
    created_at: new Date().toISOString(),
    ...state,
    migrations: await readApplied(client),
    seals: await readSealSummary(client),
  }
}
