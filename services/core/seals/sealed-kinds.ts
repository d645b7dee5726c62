import { FatalError } from '../errors/index.ts'
import type { Column, Table } from '../model/index.ts'
import {
  allMarketListings,
  assetsTables,
  chainTables,
  marketTables,
  toolsTables,
} from '../model/tables/index.ts'
import type { MarketListing } from '../model/tables/index.ts'

/**
 * SQL that finds rows of a kind by their position. The SQL names the row `t`; for trades, it names the ended listing
 * `l`.
 */
export interface RowSource {
  /** Tables of the FROM clause, without the word FROM. */
  readonly from: string
  /** Condition by which an index finds the rows, or `true`. */
  readonly scan: string
  /** Condition on scanned rows: the row can no longer change. */
  readonly settled: string
  /** Indexed SQL expression whose values ascend with the blocks of the rows. */
  readonly position: string
  /** Number of the last block that changed a sealed column of the row. */
  readonly block: string
}

/** A kind of row that is sealed: rows of one table whose sealed columns can no longer change. */
export interface SealedKind {
  readonly name: string
  /** Table of the rows, with its schema. */
  readonly table: string
  /** Contract family of the rows; `chain` for rows that all readers share. */
  readonly family: 'assets' | 'market' | 'tools' | 'chain'
  /** Columns that the seals cover, ascending by name. */
  readonly columns: readonly string[]
  /** SQL of the line of a row `t`, as `COPY … TO` prints it. */
  readonly line: string
  /** SQL expressions by which the rows are ordered before hashing. */
  readonly order: readonly string[]
  readonly sources: readonly RowSource[]
  /**
   * For append-only tables: the table that maps global sequences to blocks; `sources` then find the rows of this
   * mapping table. Null if the rows themselves have a block column.
   */
  readonly blocks: { readonly table: string; readonly sequence: string; readonly from: string } | null
  /** Whether other columns of the rows change after sealing. */
  readonly isOfChangingRows?: boolean
}

/** Characters that COPY escapes in addition to the backslash, as SQL string escapes. */
const escaped = ['\\b', '\\f', '\\n', '\\r', '\\t', '\\v']
// The SQL literal E'\v' is the letter v, not a vertical tab: write the vertical tab in hexadecimal.
const characterOf = (escape: string): string => (escape === '\\v' ? '\\x0b' : escape)

const escapeBackslashes = (text: string): string => `replace(${text}, E'\\\\', E'\\\\\\\\')`
const escapeText = (text: string): string =>
  escaped.reduce(
    (sql, escape) => `replace(${sql}, E'${characterOf(escape)}', E'\\${escape}')`,
    escapeBackslashes(text),
  )

/** SQL of a value as COPY prints it. JSON text has no control characters, so only backslashes are escaped. */
function valueOf(value: string, { type }: Pick<Column, 'type'>): string {
  switch (type) {
    case 'bigint':
    case 'bigint[]':
    case 'double precision':
    case 'integer':
    case 'integer[]':
    case 'smallint':
      return `(${value})::text`
    case 'numeric':
      return `trim_scale(${value})::text`
    case 'boolean':
      return `left((${value})::text, 1)`
    case 'text':
      return escapeText(value)
    case 'text[]':
      return escapeText(`(${value})::text`)
    case 'jsonb':
      return escapeBackslashes(`(${value})::text`)
    case 'bytea':
      return `E'\\\\\\\\x' || encode(${value}, 'hex')`
    default:
      throw new FatalError('INTERNAL', `there is no seal format for columns of type ${String(type)}`)
  }
}

/**
 * Columns that list one value for each asset of a bundle. If the listing has one asset, the seal contains null in their
 * place, because `template_id` and `schema_name` contain the value of the asset.
 */
export const bundleColumns = new Set(['template_ids', 'schema_names'])

/** SQL of the value of a column before its conversion to text. */
function sealedValue(table: string, column: string): string {
  return bundleColumns.has(column) && table.startsWith('market.')
    ? `CASE WHEN t.asset_count > 1 THEN t."${column}" END`
    : `t."${column}"`
}

const lineOf = ({ name, columns }: Table, names: readonly string[]): string =>
  names
    .map((column) => `coalesce(${valueOf(sealedValue(name, column), columns[column]!)}, E'\\\\N')`)
    .join(` || E'\\t' || `)

interface Described {
  readonly table: object & { readonly name: string }
  readonly name?: string
  /** Columns that are not sealed: they may change later, or their values depend on the version of Pronghorn. */
  readonly without?: readonly string[]
  /** Columns that the seals cover. Absent: the seals cover all columns except `without`. */
  readonly only?: readonly string[]
  readonly sources: readonly RowSource[]
  readonly order?: readonly string[]
  readonly blocks?: SealedKind['blocks']
}

function describe({ table, name, without = [], only, sources, order, blocks = null }: Described): SealedKind {
  const described = table as unknown as Table
  const all = Object.entries(described.columns)
    .filter(([, { origin }]) => origin !== 'reader')
    .map(([column]) => column)
  const columns = (only ?? all.filter((column) => !without.includes(column))).toSorted()
  return {
    name: name ?? table.name,
    table: table.name,
    family: table.name.split('.')[0] as SealedKind['family'],
    columns,
    line: lineOf(described, columns),
    order: order ?? (described.key as readonly string[]).map((column) => `t."${column}"`),
    sources,
    blocks,
  }
}

/** Describes how to read the rows of a table with a column of positions and a column of block numbers. */
const rowsOf = (
  table: string,
  columns: { readonly position: string; readonly block: string },
  { scan = 'true', settled = 'true' } = {},
): RowSource => ({
  from: `${table} t`,
  scan,
  settled,
  position: `t."${columns.position}"`,
  block: `t."${columns.block}"`,
})

const byUpdate = { position: 'updated_at_time', block: 'updated_at_block' }
const bySequence = { position: 'first_seq', block: 'block_num' }

/** Creates the sealed kind of an append-only table. The family's table `blocks` maps global sequences to blocks. */
function appended(
  table: { readonly name: string; readonly key: readonly string[] },
  order?: readonly string[],
) {
  const blocks = `${table.name.split('.')[0]!}.blocks`
  return describe({
    table,
    sources: [rowsOf(blocks, bySequence)],
    blocks: { table: blocks, sequence: `t."${table.key[0]!}"`, from: `${table.name} t` },
    ...(order === undefined ? {} : { order }),
  })
}

const blocksOf = (table: { readonly name: string }) =>
  describe({ table, sources: [rowsOf(table.name, bySequence)] })

const listings = ({ table, ended }: MarketListing) =>
  describe({
    table,
    // An edit of an asset or template changes the names. A later version of Pronghorn may compute `traits` differently.
    without: ['name', 'asset_names', 'traits'],
    sources: ended.map((conditions) => rowsOf(table.name, byUpdate, conditions)),
  })

/**
 * SQL that finds the trades of ended listings. A trade has no block column, so the block of the listing is the block of
 * the trade.
 */
const tradesOf = ({ table, kind, ended }: MarketListing): RowSource[] =>
  ended.map((conditions) => {
    const { scan, settled, position, block } = rowsOf(table.name, byUpdate, conditions)
    const ofListing = (sql: string) => sql.replaceAll('t.', 'l.')
    return {
      from: `${table.name} l LEFT JOIN market.trades t ON t.kind = ${kind} AND t.listing_id = l."${table.key[0]!}"`,
      scan: ofListing(scan),
      settled: `(${ofListing(settled)}) AND t.listing_id IS NOT NULL`,
      position: ofListing(position),
      block: ofListing(block),
    }
  })

/** Every kind of row that is sealed, ascending by name. */
export const sealedKinds: readonly SealedKind[] = [
  blocksOf(assetsTables.blocks),
  appended(assetsTables.transfers),
  appended(assetsTables.logs),
  {
    ...describe({
      table: assetsTables.assets,
      name: 'assets.mints',
      only: [
        ...['asset_id', 'minted_at_time', 'minted_at_block', 'minted_seq', 'template_id', 'template_mint'],
        ...['collection_name', 'schema_name', 'minter', 'initial_receiver', 'immutable_data'],
      ],
      sources: [rowsOf('assets.assets', { position: 'asset_id', block: 'minted_at_block' })],
    }),
    isOfChangingRows: true,
  },
  describe({
    table: assetsTables.assets,
    name: 'assets.burns',
    sources: [rowsOf('assets.assets', byUpdate, { settled: 't.burned_at_block IS NOT NULL' })],
  }),
  describe({
    table: assetsTables.offers,
    sources: [rowsOf('assets.offers', byUpdate, { settled: 't.state IN (3, 4, 5)' })],
  }),
  describe({
    table: assetsTables.templates,
    sources: [
      rowsOf(
        'assets.templates',
        { position: 'deleted_at_block', block: 'deleted_at_block' },
        { scan: 't.deleted_at_block IS NOT NULL' },
      ),
    ],
  }),
  blocksOf(marketTables.blocks),
  appended(marketTables.logs),
  appended(marketTables.bids),
  appended(marketTables.royaltyPayouts, ['t."seq"', 't."payout_index"']),
  ...allMarketListings.map(listings),
  describe({
    table: marketTables.trades,
    // A burn of the asset after the trade changes `asset_burned`.
    without: ['asset_burned'],
    sources: allMarketListings.flatMap(tradesOf),
  }),
  blocksOf(toolsTables.blocks),
  appended(toolsTables.logs),
  describe({
    table: toolsTables.links,
    // `collection_names` and `has_unknown_assets` change if another reader indexes the assets after the claim link has
    // ended.
    without: ['collection_names', 'has_unknown_assets'],
    sources: [rowsOf('tools.links', byUpdate, { settled: 't.state IN (2, 3)' })],
  }),
  describe({
    table: chainTables.abis,
    sources: [rowsOf('chain.abis', { position: 'block_num', block: 'block_num' })],
  }),
].toSorted((one, other) => (one.name < other.name ? -1 : 1))
