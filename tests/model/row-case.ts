/** A row of a contract table, and the rows of the database that follow from it. */
export interface RowCase {
  readonly family: 'assets' | 'market' | 'oracle' | 'tools'
  readonly table: string
  /** Scope of the row; default: the account of the contract. */
  readonly scope?: string
  /** Primary key of the row, if the handler reads the primary key. */
  readonly primary?: bigint
  /** Fields of the row, as the ABI of the contract encodes them. */
  readonly row: Readonly<Record<string, unknown>>
  /** Actions of the same block: the handlers read the data of assets, offers, listings and links from actions. */
  readonly actions?: readonly (readonly [name: string, data: Readonly<Record<string, unknown>>])[]
  /** Rows that the handler writes, by table. */
  readonly handled: Rows
  /** Rows that `import-state` writes, by table. If absent, `import-state` writes the rows of `handled`. */
  readonly imported?: Rows
  /** Key and column values that `verify` expects in the database. */
  readonly verified: { readonly key: readonly string[]; readonly values: Readonly<Record<string, unknown>> }
}

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/**
 * Block in which the actions of a case are executed. `created` and `updated` are the columns that a new row gets from
 * this block.
 */
export const block = { num: 7_100, timeMs: 1_700_000_000_500 }
export const created = { created_at_time: block.timeMs, created_at_block: block.num }
export const updated = { updated_at_time: block.timeMs, updated_at_block: block.num }
/**
 * `created` and `updated` of a row that `import-state` writes. The chain state does not contain the time and the block.
 */
export const unknownCreation = { created_at_time: 0, created_at_block: 0 }
export const unknownUpdate = { updated_at_time: 0, updated_at_block: 0 }

/** Attribute formats with which the attributes of the test rows are packed. */
export const collectionFormat = [
  { name: 'title', type: 'string' },
  { name: 'grade', type: 'uint16' },
]
export const schemaFormat = [
  { name: 'name', type: 'string' },
  { name: 'level', type: 'uint64' },
]

/** A number that a double cannot represent (2^53 + 1). */
export const LARGE = '9007199254740993'
