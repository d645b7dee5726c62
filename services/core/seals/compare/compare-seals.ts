import type pg from 'pg'
import { findKind, MOST_LINES, partsStatement, summaryStatement } from '../published/index.ts'
import type { JsonStatement, PublishedSeal, RangePart, RangeParts, SealSummary } from '../published/index.ts'
import { digestRanges, PIN_FORMAT } from '../range-digest.ts'
import type { SealChoice } from '../read-seals.ts'

/** Digest of the rows of a range of blocks. */
export type RangeSeal = Pick<PublishedSeal, 'first_block' | 'last_block' | 'digest'>

/** Seals and sealed rows of this database or of another operator's installation. */
export interface SealSource {
  summary(): Promise<SealSummary>
  seals(kind: string, size: number, from: number, to: number): Promise<readonly RangeSeal[]>
  parts(kind: string, part: RangePart): Promise<RangeParts>
}

/** A sealed row that one of the two compared installations lacks. */
export interface DifferingRow {
  readonly kind: string
  /** Block range in which the row was found; a single block if the range has many rows. */
  readonly firstBlock: number
  readonly lastBlock: number
  readonly side: 'ours' | 'theirs'
  /** Value of each column, in the text format of COPY. */
  readonly row: Readonly<Record<string, string>>
}

/** Result of a comparison of the seals of two installations. */
export interface ComparedSeals {
  /** Compared kinds of row, each with the last block up to which both installations have sealed the kind. */
  readonly kinds: readonly { readonly kind: string; readonly sealedTo: number }[]
  /** Kinds of row that only this installation seals, or that the two seal in ranges of different size. */
  readonly onlyOurs: readonly string[]
  /** Kinds of row that only the other installation seals, or that the two seal in ranges of different size. */
  readonly onlyTheirs: readonly string[]
  readonly ranges: number
  readonly differing: readonly {
    readonly kind: string
    readonly firstBlock: number
    readonly lastBlock: number
  }[]
  /** The first differing rows, at most `MOST_DIFFERENCES`. */
  readonly rows: readonly DifferingRow[]
}

/** Maximum number of rows in a report. */
const MOST_DIFFERENCES = 1_000

/**
 * Seals and rows of a database. The seals are recomputed from the rows, so a row that changed after sealing
 * is a difference.
 */
function databaseSource(client: pg.ClientBase): SealSource {
  const read = async <T>({ text, values }: JsonStatement): Promise<T> => {
    const { rows } = await client.query<{ json: string }>(text, [...values])
    return JSON.parse(rows[0]!.json) as T
  }
  return {
    summary: () => read(summaryStatement()),
    seals: async (kind, size, firstBlock, lastBlock) => {
      const found = await digestRanges(client, findKind(kind)!, size, { firstBlock, lastBlock })
      return found.map(({ firstBlock: first, digest }) => ({
        first_block: first,
        last_block: first + size - 1,
        digest: digest.toString('hex'),
      }))
    },
    parts: (kind, part) => read(partsStatement(findKind(kind)!, part, false)),
  }
}

/**
 * Compares the rows of a database, in one snapshot, with the seals of another installation. Finds the differing rows of
 * each differing range.
 *
 * The client must not be in a transaction.
 */
export async function compareWith(
  client: pg.ClientBase,
  theirs: SealSource,
  choice: SealChoice = {},
): Promise<ComparedSeals> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  try {
    return await compareSnapshot(client, theirs, choice)
  } finally {
    await client.query('ROLLBACK').catch(() => undefined)
  }
}

/** Compares the rows of this database with the seals of another installation, in the open transaction of the caller. */
export async function compareSnapshot(
  client: pg.ClientBase,
  theirs: SealSource,
  choice: SealChoice = {},
): Promise<ComparedSeals> {
  await client.query(PIN_FORMAT)
  return compareSeals(databaseSource(client), theirs, choice)
}

async function compareSeals(
  ours: SealSource,
  theirs: SealSource,
  choice: SealChoice = {},
): Promise<ComparedSeals> {
  const [own, other] = await Promise.all([ours.summary(), theirs.summary()])
  const isChosen = (kind: string) => findKind(kind) !== undefined && (choice.kinds?.includes(kind) ?? true)
  const ownKinds = new Map(own.kinds.filter(({ kind }) => isChosen(kind)).map((each) => [each.kind, each]))
  const otherKinds = new Map(
    other.kinds.filter(({ kind }) => isChosen(kind)).map((each) => [each.kind, each]),
  )
  const comparison = new Comparison(ours, theirs)
  const kinds: { kind: string; sealedTo: number }[] = []
  for (const [kind, { range_blocks: size, sealed_to }] of ownKinds) {
    const against = otherKinds.get(kind)
    if (against?.range_blocks !== size) continue
    const sealedTo = Math.min(sealed_to, against.sealed_to)
    kinds.push({ kind, sealedTo })
    const from = Math.floor((choice.from ?? 0) / size) * size
    const to = Math.min(sealedTo, choice.to ?? sealedTo)
    // Compare only whole ranges that both installations have sealed, so the last range may end after `choice.to`.
    const end = Math.min(sealedTo, Math.floor(to / size) * size + size - 1)
    if (from <= end) await comparison.compareRanges(kind, size, from, end)
  }
  const compared = new Set(kinds.map(({ kind }) => kind))
  return {
    kinds,
    onlyOurs: [...ownKinds.keys()].filter((kind) => !compared.has(kind)),
    onlyTheirs: [...otherKinds.keys()].filter((kind) => !compared.has(kind)),
    ranges: comparison.ranges,
    differing: comparison.differing,
    rows: comparison.rows,
  }
}

/** Ranges whose digest differs between two installations, and ranges that only one installation has; ascending. */
function differing(own: readonly RangeSeal[], other: readonly RangeSeal[]): RangeSeal[] {
  const digests = new Map(other.map(({ first_block, digest }) => [first_block, digest]))
  const known = new Set(own.map(({ first_block }) => first_block))
  return [
    ...own.filter(({ first_block, digest }) => digests.get(first_block) !== digest),
    ...other.filter(({ first_block }) => !known.has(first_block)),
  ].sort((one, another) => one.first_block - another.first_block)
}

class Comparison {
  readonly #ours: SealSource
  readonly #theirs: SealSource
  ranges = 0
  readonly differing: { kind: string; firstBlock: number; lastBlock: number }[] = []
  readonly rows: DifferingRow[] = []

  constructor(ours: SealSource, theirs: SealSource) {
    this.#ours = ours
    this.#theirs = theirs
  }

  async compareRanges(kind: string, size: number, from: number, to: number): Promise<void> {
    const [own, other] = await Promise.all([
      this.#ours.seals(kind, size, from, to),
      this.#theirs.seals(kind, size, from, to),
    ])
    this.ranges += new Set([...own, ...other].map(({ first_block }) => first_block)).size
    for (const { first_block: firstBlock, last_block: lastBlock } of differing(own, other)) {
      this.differing.push({ kind, firstBlock, lastBlock })
      await this.#narrow(kind, { range: firstBlock, from: firstBlock, to: lastBlock, offset: 0 })
    }
  }

  async #narrow(kind: string, part: RangePart): Promise<void> {
    if (this.rows.length >= MOST_DIFFERENCES) return
    const [own, other] = await Promise.all([this.#ours.parts(kind, part), this.#theirs.parts(kind, part)])
    if (part.from === part.to || (own.lines !== null && other.lines !== null)) {
      const lines = await Promise.all([
        this.#allLines(this.#ours, kind, part, own),
        this.#allLines(this.#theirs, kind, part, other),
      ])
      this.#note(kind, part, lines)
      return
    }
    for (const { first_block: from, last_block: to } of differing(own.parts, other.parts))
      await this.#narrow(kind, { ...part, from, to })
  }

  async #allLines(
    source: SealSource,
    kind: string,
    part: RangePart,
    { rows, lines }: RangeParts,
  ): Promise<string[]> {
    const all = [...(lines ?? [])]
    while (all.length < Number(rows)) {
      const more = (await source.parts(kind, { ...part, offset: all.length })).lines ?? []
      if (more.length === 0) break
      all.push(...more.slice(0, MOST_LINES))
    }
    return all
  }

  #note(kind: string, { from, to }: RangePart, [own, other]: readonly (readonly string[])[]): void {
    const columns = findKind(kind)!.columns
    const note = (side: DifferingRow['side'], line: string) => {
      const values = line.split('\t')
      const row = Object.fromEntries(columns.map((column, at) => [column, values[at] ?? '']))
      if (this.rows.length < MOST_DIFFERENCES)
        this.rows.push({ kind, firstBlock: from, lastBlock: to, side, row })
    }
    for (const line of without(own!, other!)) note('ours', line)
    for (const line of without(other!, own!)) note('theirs', line)
  }
}

/** Multiset difference: the lines of `all` without the lines of `others`. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1)
  return all.filter((line) => {
    const count = counts.get(line) ?? 0
    counts.set(line, count - 1)
    return count <= 0
  })
}
