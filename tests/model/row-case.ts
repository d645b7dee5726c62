/** A row of a contract table, and the rows of the database that follow from it. */
export interface RowCase {
  readonly family: 'assets' | 'market' | 'oracle' | 'tools'
  readonly table: string
  /** Scope of the row; the contract's account where there is none. */
  readonly scope?: string
  /** Primary key of the row, where the handler reads it. */
  readonly primary?: bigint
  /** The row as its ABI encodes it. */
  readonly row: Readonly<Record<string, unknown>>
  /** Actions of the same block: the handlers read the data of assets, offers, listings and links from actions. */
  readonly actions?: readonly (readonly [name: string, data: Readonly<Record<string, unknown>>])[]
  /** Rows that the handler writes, by table. */
  readonly handled: Rows
  /** Rows that `import-state` writes, by table; where it has none of its own, the handler writes them in the block 0. */
  readonly imported?: Rows
  /** What `verify` expects. */
  readonly verified: { readonly key: readonly string[]; readonly values: Readonly<Record<string, unknown>> }
}

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** The block of the events: its columns in a row that is new. */
export const block = { num: 7_100, timeMs: 1_700_000_000_500 }
export const created = { created_at_time: block.timeMs, created_at_block: block.num }
export const updated = { updated_at_time: block.timeMs, updated_at_block: block.num }
/** The same columns in a row that `import-state` writes. */
export const unknownCreation = { created_at_time: 0, created_at_block: 0 }
export const unknownUpdate = { updated_at_time: 0, updated_at_block: 0 }

/** Formats by which the attributes of the cases are packed. */
export const collectionFormat = [
  { name: 'title', type: 'string' },
  { name: 'grade', type: 'uint16' },
]
export const schemaFormat = [
  { name: 'name', type: 'string' },
  { name: 'level', type: 'uint64' },
]

/** Digits that a double does not hold. */
export const LARGE = '9007199254740993'
