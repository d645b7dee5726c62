import type pg from 'pg'

/** A seal with its digest as text. */
interface Seal {
  readonly firstBlock: number
  readonly lastBlock: number
  readonly rows: bigint
  /** 64 hexadecimal digits. */
  readonly digest: string
  readonly origin: 'indexed' | 'imported'
}

/** Seals of a kind of row, and its last sealed block. */
export interface KindSeals {
  readonly kind: string
  readonly rangeBlocks: number
  /** Last sealed block; -1 before the first. A range up to this block without a seal has no rows. */
  readonly sealedTo: number
  /** Reason why the kind was sealed again from the start; null if it was not. */
  readonly reason: string | null
  /** Seals in the order of their blocks. */
  readonly seals: readonly Seal[]
}

/** Filter of the seals to read: kinds of row, and blocks. Without a filter, all seals are read. */
export interface SealChoice {
  readonly kinds?: readonly string[]
  /** First block of the filter. A seal is read if its range contains a block from `from` to `to`. */
  readonly from?: number
  readonly to?: number
}

/** Reads seals, kinds ascending by name, in one statement. */
export async function readSeals(client: pg.ClientBase, choice: SealChoice = {}): Promise<KindSeals[]> {
  const { rows } = await client.query<
    Omit<KindSeals, 'seals'> & { readonly [Name in keyof Seal]: Seal[Name] | null }
  >(
    `SELECT d.kind, d.range_blocks AS "rangeBlocks", d.sealed_to AS "sealedTo", d.reason,
       s.first_block AS "firstBlock", s.first_block + d.range_blocks - 1 AS "lastBlock", s.row_count AS rows,
       encode(s.digest, 'hex') AS digest, s.origin
     FROM chain.sealed d LEFT JOIN chain.seals s ON s.kind = d.kind
       AND s.first_block > $2::bigint - d.range_blocks AND s.first_block <= $3
     WHERE $1::text[] IS NULL OR d.kind = ANY ($1) ORDER BY d.kind, s.first_block`,
    [choice.kinds ?? null, choice.from ?? 0, choice.to ?? 2_147_483_647],
  )
  const byKind = new Map<string, KindSeals & { readonly seals: Seal[] }>()
  for (const { kind, rangeBlocks, sealedTo, reason, ...seal } of rows) {
    const found = byKind.get(kind) ?? { kind, rangeBlocks, sealedTo, reason, seals: [] }
    byKind.set(kind, found)
    if (seal.firstBlock !== null) found.seals.push(seal as Seal)
  }
  return [...byKind.values()]
}
