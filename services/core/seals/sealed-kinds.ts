import { FatalError } from '../errors/index.ts'
import type { Column, Table } from '../model/index.ts'
import { assetsTables, chainTables, marketTables, toolsTables } from '../model/tables/index.ts'

/** Where rows of a kind are found by their position. The row is `t`; a listing that says when it ended is `l`. */
export interface RowSource {
  /** FROM clause. */
  readonly from: string
  /** Condition that the index of the position has, or `true`. */
  readonly scan: string
  /** Condition of the rows that cannot change any more, among those that are scanned. */
  readonly settled: string
  /** Expression that grows with the blocks, and by which an index finds rows. */
  readonly position: string
  /** Number of the block in which the row became settled. */
  readonly block: string
}

/** A kind of row that is sealed. */
export interface SealedKind {
  readonly name: string
  /** Table of the rows, with its schema. */
  readonly table: string
  /** `chain` for rows that all readers share. */
  readonly family: 'assets' | 'market' | 'tools' | 'chain'
  /** Columns that are sealed, ascending by name. */
  readonly columns: readonly string[]
  /** SQL of the line of a row `t`, as `COPY … TO` prints it. */
  readonly line: string
  /** Expressions by which the rows are ordered. */
  readonly order: readonly string[]
  readonly sources: readonly RowSource[]
  /**
   * Table of the blocks that the global sequences of appended rows belong to; null for rows that have a block of their own.
   * `sources` are then those of the blocks.
   */
  readonly blocks: { readonly table: string; readonly sequence: string; readonly from: string } | null
}

/** Characters that COPY escapes beside the backslash, as they stand in an SQL string. */
const escaped = ['\\b', '\\f', '\\n', '\\r', '\\t', '\\v']
// SQL has no escape for a vertical tab.
const characterOf = (escape: string): string => (escape === '\\v' ? '\\x0b' : escape)

const escapeBackslashes = (text: string): string => `replace(${text}, E'\\\\', E'\\\\\\\\')`
const escapeText = (text: string): string =>
  escaped.reduce(
    (sql, escape) => `replace(${sql}, E'${characterOf(escape)}', E'\\${escape}')`,
    escapeBackslashes(text),
  )

/** SQL of a value as COPY prints it. JSON text has no control characters: only its backslashes are escaped. */
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
      throw new FatalError('INTERNAL', `a seal has no form for ${String(type)}`)
  }
}

/** Lists that a listing of a single asset may repeat from columns of its own. */
export const bundleColumns = new Set(['template_ids', 'schema_names'])

/** SQL of the value of a column, before it is printed. */
function sealedValue(table: string, column: string): string {
  return bundleColumns.has(column) && table.startsWith('market.')
    ? `CASE WHEN t.asset_count > 1 THEN t."${column}" END`
    : `t."${column}"`
}

const lineOf = ({ name, columns }: Table, names: readonly string[]): string =>
  names
    .map((column) => `coalesce(${valueOf(sealedValue(name, column), columns[column]!)}, E'\\\\N')`)
    .join(` || E'\\t' || `)

/** Options of `describe`. */
interface Described {
  readonly table: object & { readonly name: string }
  readonly name?: string
  /** Columns that may change after the row is settled, or that follow from the version of Pronghorn. */
  readonly without?: readonly string[]
  /** The only columns that are sealed. */
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

/** Rows of a table that have the block and the position in columns of their own. */
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

/** An appended table: the blocks of the family say which block a global sequence belongs to. */
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

/** Settled listings of a kind, one source for each index that finds them. */
interface Listings {
  readonly table: { readonly name: string; readonly key: readonly string[] }
  readonly kind: number
  /** Pairs of `scan` and `settled`, of the listing `t`. */
  readonly ended: readonly { readonly scan?: string; readonly settled?: string }[]
}

const sales: Listings = {
  table: marketTables.sales,
  kind: 1,
  // The index of updates is by state, and of sales with an offer; sales_offer_idx has the others, which are few.
  ended: [
    { scan: 't.state = 2 AND t.offer_id IS NOT NULL' },
    { scan: 't.state = 3 AND t.offer_id IS NOT NULL' },
    { scan: 't.offer_id IS NULL', settled: 't.state IN (2, 3)' },
  ],
}
const auctions: Listings = {
  table: marketTables.auctions,
  kind: 2,
  ended: [{ settled: 't.state = 2 OR t.claimed_by_seller AND t.claimed_by_buyer' }],
}
const buyoffers: Listings = {
  table: marketTables.buyoffers,
  kind: 3,
  ended: [{ settled: 't.state IN (1, 2, 3)' }],
}
const templateBuyoffers: Listings = {
  table: marketTables.templateBuyoffers,
  kind: 4,
  ended: [{ settled: 't.state IN (1, 2)' }],
}

const listings = ({ table, ended }: Listings) =>
  describe({
    table,
    // Names follow edits of assets and templates; traits are numbers that a later version may compute otherwise.
    without: ['name', 'asset_names', 'traits'],
    sources: ended.map((conditions) => rowsOf(table.name, byUpdate, conditions)),
  })

/** Trades of settled listings: the trade has the time of the listing and no block. */
const tradesOf = ({ table, kind, ended }: Listings): RowSource[] =>
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
  describe({
    table: assetsTables.assets,
    name: 'assets.mints',
    only: [
      ...['asset_id', 'minted_at_time', 'minted_at_block', 'minted_seq', 'template_id', 'template_mint'],
      ...['collection_name', 'schema_name', 'minter', 'initial_receiver', 'immutable_data'],
    ],
    sources: [rowsOf('assets.assets', { position: 'asset_id', block: 'minted_at_block' })],
  }),
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
  appended(marketTables.royaltyPayouts, ['t.seq', 't.payout_index']),
  ...[sales, auctions, buyoffers, templateBuyoffers].map(listings),
  describe({
    table: marketTables.trades,
    // Follows from the asset, which may be burned later.
    without: ['asset_burned'],
    sources: [sales, auctions, buyoffers, templateBuyoffers].flatMap(tradesOf),
  }),
  blocksOf(toolsTables.blocks),
  appended(toolsTables.logs),
  describe({
    table: toolsTables.links,
    // Both follow from assets, which another reader may index later.
    without: ['collection_names', 'has_unknown_assets'],
    sources: [rowsOf('tools.links', byUpdate, { settled: 't.state IN (2, 3)' })],
  }),
  describe({
    table: chainTables.abis,
    sources: [rowsOf('chain.abis', { position: 'block_num', block: 'block_num' })],
  }),
].toSorted((one, other) => (one.name < other.name ? -1 : 1))
