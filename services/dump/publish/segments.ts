import type pg from 'pg'
import { sealedKinds } from '../../core/seals/index.ts'
import type { SealedKind } from '../../core/seals/index.ts'
import type { Manifest, ManifestFile } from '../format/manifest.ts'
import type { Segment, SealedRange } from './row-statements.ts'

/** A file of sealed rows (segment) ends with the first sealed range after this number of rows. */
const SEGMENT_ROWS = 100_000

/** A segment (file of sealed rows) to publish, and the file of the previous publication with the same seals. */
export interface PlannedSegment extends Segment {
  readonly former: ManifestFile | undefined
}

/** Sealed kinds by table, without `assets.mints`: mints are stored in `assets.assets`, whose rows change later. */
const publishedKinds = sealedKinds.filter(({ isOfChangingRows }) => isOfChangingRows !== true)

interface StoredRange extends SealedRange {
  readonly kind: string
  readonly rangeBlocks: number
}

/**
 * Reads the seals in the snapshot, and divides their rows into segments, the files of sealed rows. Files of the
 * previous publication are used again; later seals get new files.
 */
export async function planSegments(
  client: pg.ClientBase,
  former: Manifest | undefined,
): Promise<PlannedSegment[]> {
  const { rows } = await client.query<StoredRange>(
    `SELECT s.kind, d.range_blocks AS "rangeBlocks", s.first_block AS "firstBlock", s.row_count::float8 AS rows,
       encode(s.digest, 'hex') AS digest, s.low_position AS low, s.high_position AS high
     FROM chain.seals s JOIN chain.sealed d USING (kind) ORDER BY s.kind, s.first_block`,
  )
  return publishedKinds.flatMap((kind) => {
    const files = (former?.tables.find(({ name }) => name === kind.table)?.files ?? [])
      .filter(({ sealed }) => sealed?.kind === kind.name)
      .sort((one, other) => one.sealed!.first_block - other.sealed!.first_block)
    return cutSegments(
      kind,
      rows.filter((row) => row.kind === kind.name),
      files,
    )
  })
}

function cutSegments(
  kind: SealedKind,
  stored: readonly StoredRange[],
  former: readonly ManifestFile[],
): PlannedSegment[] {
  const segments: PlannedSegment[] = []
  let at = 0
  let firstBlock = 0
  const add = (ranges: readonly StoredRange[], file: ManifestFile | undefined) => {
    const { rangeBlocks } = ranges[0]!
    const lastBlock = ranges.at(-1)!.firstBlock + rangeBlocks - 1
    segments.push({ ...{ kind, firstBlock, lastBlock, rangeBlocks, ranges }, former: file })
    at += ranges.length
    firstBlock = lastBlock + 1
  }
  for (const file of former) {
    const ranges = stored.slice(at, at + file.sealed!.ranges.length)
    if (!isSame(file, firstBlock, ranges)) break
    add(ranges, file)
  }
  while (at < stored.length) {
    let rows = 0
    const past = stored.findIndex((range, index) => index >= at && (rows += range.rows) >= SEGMENT_ROWS)
    add(stored.slice(at, past < 0 ? stored.length : past + 1), undefined)
  }
  return segments
}

function isSame({ sealed }: ManifestFile, firstBlock: number, ranges: readonly StoredRange[]): boolean {
  const { rangeBlocks = 1, firstBlock: last = -1 } = ranges.at(-1) ?? {}
  return (
    sealed!.first_block === firstBlock &&
    sealed!.last_block === last + rangeBlocks - 1 &&
    sealed!.ranges.length === ranges.length &&
    sealed!.ranges.every(([first, rows, digest], at) => {
      const range = ranges[at]!
      return first === range.firstBlock && rows === range.rows && digest === range.digest
    })
  )
}
