import type pg from 'pg'
import { digestRanges, PIN_FORMAT } from './range-digest.ts'
import { readSeals } from './read-seals.ts'
import type { KindSeals, SealChoice } from './read-seals.ts'
import { sealedKinds } from './sealed-kinds.ts'
import type { SealedKind } from './sealed-kinds.ts'

/** A range whose rows have another digest than its seal. */
export interface ChangedRange {
  readonly kind: string
  readonly firstBlock: number
  readonly lastBlock: number
  /** Number of rows that the seal states; 0 if the range has no seal, because a range without rows gets no seal. */
  readonly sealedRows: bigint
  readonly rows: bigint
}

/** Result of a comparison of seals with rows. */
export interface CheckedSeals {
  readonly kinds: number
  readonly ranges: number
  readonly rows: bigint
  readonly changed: readonly ChangedRange[]
}

interface ComparedRange extends ChangedRange {
  readonly isChanged: boolean
}

/**
 * Computes all seals from the rows of one snapshot, and returns the ranges whose rows changed after sealing.
 *
 * The client must not be in a transaction.
 */
export async function checkSeals(client: pg.ClientBase, choice: SealChoice = {}): Promise<CheckedSeals> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  try {
    return await checkSnapshot(client, choice)
  } finally {
    await client.query('ROLLBACK').catch(() => undefined)
  }
}

/** Compares the seals with the rows of the database, in the open transaction of the caller. */
export async function checkSnapshot(client: pg.ClientBase, choice: SealChoice = {}): Promise<CheckedSeals> {
  await client.query(PIN_FORMAT)
  const compared: ComparedRange[] = []
  const sealed = await readSeals(client, choice)
  for (const seals of sealed) {
    const kind = sealedKinds.find(({ name }) => name === seals.kind)
    if (kind !== undefined) compared.push(...(await compareKind(client, kind, seals, choice)))
  }
  const changed = compared
    .filter(({ isChanged }) => isChanged)
    .map(({ kind, firstBlock, lastBlock, sealedRows, rows }) => ({
      kind,
      firstBlock,
      lastBlock,
      sealedRows,
      rows,
    }))
  const rows = compared.reduce((sum, range) => sum + range.rows, 0n)
  return { kinds: sealed.length, ranges: compared.length, rows, changed }
}

async function compareKind(
  client: pg.ClientBase,
  kind: SealedKind,
  { rangeBlocks, sealedTo, seals }: KindSeals,
  { from = 0, to = sealedTo }: SealChoice,
): Promise<ComparedRange[]> {
  // A range that contains a block from `from` to `to` is checked as a whole.
  const firstBlock = Math.floor(from / rangeBlocks) * rangeBlocks
  const lastBlock = Math.min(Math.floor(to / rangeBlocks) * rangeBlocks + rangeBlocks - 1, sealedTo)
  if (firstBlock > lastBlock) return []
  const found = await digestRanges(client, kind, rangeBlocks, { firstBlock, lastBlock })
  const foundOf = new Map(found.map((range) => [range.firstBlock, range]))
  const sealOf = new Map(seals.map((seal) => [seal.firstBlock, seal]))
  const firsts = [...new Set([...foundOf.keys(), ...sealOf.keys()])].sort((one, other) => one - other)
  return firsts.map((first) => ({
    kind: kind.name,
    firstBlock: first,
    lastBlock: first + rangeBlocks - 1,
    sealedRows: sealOf.get(first)?.rows ?? 0n,
    rows: foundOf.get(first)?.rows ?? 0n,
    isChanged: sealOf.get(first)?.digest !== foundOf.get(first)?.digest.toString('hex'),
  }))
}
