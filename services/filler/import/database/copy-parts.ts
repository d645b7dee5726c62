import type { Accounts } from '../reader-handlers.ts'
import type { OldSource } from './old-source.ts'

/**
 * Arguments of the statements that read the source database: the source, the reader, the last block, and the accounts
 * of the contracts.
 */
export interface PartContext {
  readonly source: OldSource
  /** Name of the reader in the target database. */
  readonly reader: string
  /** Last block to import. */
  readonly block: number
  readonly accounts: Accounts
}

/** Describes how COPY copies rows: from one SELECT on the source into one target table. */
export interface CopyPart {
  /** Target table of the COPY. */
  readonly table: string
  readonly columns: readonly string[]
  /**
   * Entity type of the copied rows: `UndoneSource.keys` takes the type and returns the keys of the rows that reversible
   * blocks changed. Null for append-only tables, whose SELECT excludes the rows of reversible blocks by block number.
   */
  readonly entity: string | null
  /** Numeric key that splits the copy into steps of `width` keys each; null if one step copies all rows. */
  readonly ranges: { readonly from: string; readonly column: string; readonly width: number } | null
  /** SELECT on the source. `where` takes the name of the key column and returns an SQL condition on this column. */
  select(where: (column: string) => string): string
}

/** Quotes a text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Describes how each table of the schema `chain` is copied. Every import copies these tables. */
function chainParts({ block, reader }: PartContext): CopyPart[] {
  return [
    {
      table: 'chain.abis',
      columns: ['account', 'block_num', 'reader', 'abi'],
      entity: null,
      ranges: null,
      select: () =>
        `SELECT account, block_num, ${literal(reader)}, abi FROM contract_abis WHERE block_num <= ${block}`,
    },
    {
      table: 'chain.code_accounts',
      columns: ['account', 'since_block', 'reader'],
      entity: null,
      ranges: null,
      select: () =>
        `SELECT account, min(block_num), ${literal(reader)} FROM contract_codes WHERE block_num <= ${block} GROUP BY 1`,
    },
  ]
}

function assetsParts({ source, accounts }: PartContext): CopyPart[] {
  if (accounts.assets === null) return []
  const contract = literal(accounts.assets)
  const optional = (table: string, column: string, type: string) =>
    source.has(table, column) ? column : `NULL::${type}`
  const parts: CopyPart[] = [
    {
      table: 'assets.tokens',
      columns: ['token_symbol', 'token_precision', 'token_contract'],
      entity: 'assets token',
      ranges: null,
      select: (where) =>
        `SELECT token_symbol, token_precision, token_contract FROM atomicassets_tokens
         WHERE contract = ${contract} AND ${where('token_symbol')}`,
    },
    {
      table: 'assets.balances',
      columns: ['owner', 'token_symbol', 'amount', 'updated_at_time', 'updated_at_block'],
      entity: 'assets balance',
      ranges: null,
      select: (where) =>
        `SELECT owner, token_symbol, amount, updated_at_time, updated_at_block FROM atomicassets_balances
         WHERE contract = ${contract} AND ${where('owner')}`,
    },
    {
      table: 'assets.collections',
      columns: [
        'collection_name',
        'created_at_time',
        'created_at_block',
        'market_fee',
        'allow_notify',
        'author',
        'authorized_accounts',
        'notify_accounts',
        'data',
      ],
      entity: 'collection',
      ranges: null,
      select: (where) =>
        `SELECT collection_name, created_at_time, created_at_block, market_fee, allow_notify, author,
           authorized_accounts, notify_accounts, coalesce(data, '{}') FROM atomicassets_collections
         WHERE contract = ${contract} AND ${where('collection_name')}`,
    },
    {
      table: 'assets.schemas',
      columns: ['collection_name', 'schema_name', 'created_at_time', 'created_at_block', 'format', 'types'],
      entity: 'schema',
      ranges: null,
      select: (where) =>
        `SELECT collection_name, schema_name, created_at_time, created_at_block, to_jsonb(format),
           ${source.has('atomicassets_schemas', 'types') ? "nullif(to_jsonb(types), '[]')" : 'NULL'} FROM atomicassets_schemas
         WHERE contract = ${contract} AND ${where('schema_name')}`,
    },
    {
      table: 'assets.templates',
      columns: [
        'template_id',
        'created_at_block',
        'created_at_time',
        'deleted_at_time',
        'deleted_at_block',
        'max_supply',
        'issued_supply',
        'transferable',
        'burnable',
        'collection_name',
        'schema_name',
        'immutable_data',
        'mutable_data',
      ],
      entity: 'template',
      ranges: {
        from: `atomicassets_templates WHERE contract = ${contract}`,
        column: 'template_id',
        width: 50_000,
      },
      select: (where) =>
        `SELECT template_id, created_at_block, created_at_time,
           ${optional('atomicassets_templates', 'deleted_at_time', 'bigint')},
           ${optional('atomicassets_templates', 'deleted_at_block', 'bigint')},
           max_supply, issued_supply, transferable, burnable, collection_name, schema_name, coalesce(immutable_data, '{}'),
           nullif(${optional('atomicassets_templates', 'mutable_data', 'jsonb')}, '{}') FROM atomicassets_templates
         WHERE contract = ${contract} AND ${where('template_id')}`,
    },
    {
      table: 'assets.backed_tokens',
      columns: ['asset_id', 'token_symbol', 'amount'],
      entity: 'asset',
      ranges: null,
      select: (where) =>
        `SELECT asset_id, token_symbol, amount FROM atomicassets_assets_backed_tokens
         WHERE contract = ${contract} AND ${where('asset_id')}`,
    },
  ]
  if (source.has('atomicassets_collections', 'new_author_name'))
    parts.push({
      table: 'assets.author_swaps',
      columns: ['collection_name', 'acceptance_date', 'current_author', 'new_author'],
      entity: 'collection',
      ranges: null,
      select: (where) =>
        `SELECT collection_name, new_author_date / 1000, author, new_author_name FROM atomicassets_collections
         WHERE contract = ${contract} AND new_author_name IS NOT NULL AND ${where('collection_name')}`,
    })
  return parts
}

/**
 * Columns of `assets.assets` in the order of the SELECT in `assetsPart`; `minted_seq` is appended to each line
 * afterwards.
 */
const assetColumns = [
  'asset_id',
  'collection_name',
  'schema_name',
  'immutable_data',
  'mutable_data',
  'minted_at_time',
  'transferred_at_time',
  'updated_at_time',
  'burned_at_time',
  'minted_at_block',
  'transferred_at_block',
  'updated_at_block',
  'burned_at_block',
  'template_id',
  'template_mint',
  'owner',
  'minter',
  'initial_receiver',
  'burned_by_account',
  'minted_seq',
] as const

/** Describes how the assets table is copied; null if the reader indexes no assets contract. */
export function assetsPart({ accounts }: PartContext): CopyPart | null {
  if (accounts.assets === null) return null
  const contract = literal(accounts.assets)
  return {
    table: 'assets.assets',
    columns: assetColumns,
    entity: 'asset',
    ranges: { from: `atomicassets_assets WHERE contract = ${contract}`, column: 'asset_id', width: 20_000 },
    select: (where) =>
      `SELECT a.asset_id, a.collection_name, a.schema_name, nullif(a.immutable_data, '{}'), nullif(a.mutable_data, '{}'),
         a.minted_at_time, a.transferred_at_time, a.updated_at_time, a.burned_at_time, a.minted_at_block,
         a.transferred_at_block, a.updated_at_block, a.burned_at_block, a.template_id, a.template_mint, a.owner,
         m.minter, m.receiver, a.burned_by_account
       FROM atomicassets_assets a LEFT JOIN (
         SELECT DISTINCT ON (asset_id) asset_id, minter, receiver FROM atomicassets_mints
         WHERE contract = ${contract} AND ${where('asset_id')} ORDER BY asset_id
       ) m ON m.asset_id = a.asset_id
       WHERE a.contract = ${contract} AND ${where('a.asset_id')} ORDER BY a.asset_id`,
  }
}

function marketParts({ source, accounts }: PartContext): CopyPart[] {
  if (accounts.market === null) return []
  const contract = literal(accounts.market)
  const of = (rest: string) => `market_contract = ${contract} AND ${rest}`
  const parts: CopyPart[] = [
    {
      table: 'market.marketplaces',
      columns: ['marketplace_name', 'created_at_time', 'created_at_block', 'creator'],
      entity: 'marketplace',
      ranges: null,
      select: (where) =>
        `SELECT marketplace_name, created_at_time, created_at_block, creator FROM atomicmarket_marketplaces
         WHERE ${of(where('marketplace_name'))}`,
    },
    {
      table: 'market.balances',
      columns: ['owner', 'token_symbol', 'amount', 'updated_at_time', 'updated_at_block'],
      entity: 'market balance',
      ranges: null,
      // `atomicmarket_balances` has no unique key, so an unclean restart of the old indexer can leave several rows of
      // one balance. DISTINCT ON selects the row of the latest block.
      select: (where) =>
        `SELECT DISTINCT ON (owner, token_symbol) owner, token_symbol, amount, updated_at_time, updated_at_block
         FROM atomicmarket_balances WHERE ${of(where('owner'))} ORDER BY owner, token_symbol, updated_at_block DESC`,
    },
    {
      table: 'market.bonus_fees',
      columns: ['bonusfee_id', 'created_at_time', 'created_at_block', 'fee', 'fee_recipient', 'fee_name'],
      entity: 'bonus fee',
      ranges: null,
      select: (where) =>
        `SELECT bonusfee_id, created_at_time, created_at_block, fee, recipient, name FROM atomicmarket_bonusfees
         WHERE ${of(where('bonusfee_id'))}`,
    },
    {
      table: 'market.bonus_fee_ranges',
      columns: ['bonusfee_id', 'counter_name', 'start_id', 'end_id'],
      entity: 'bonus fee',
      ranges: null,
      select: (where) =>
        `SELECT b.bonusfee_id, r.counter_name, r.start_id, r.end_id FROM atomicmarket_bonusfees b
         CROSS JOIN LATERAL (VALUES ('sale', start_sale_id, end_sale_id), ('auction', start_auction_id, end_auction_id),
           ('buyoffer', start_buyoffer_id, end_buyoffer_id)) r(counter_name, start_id, end_id)
         WHERE r.start_id IS NOT NULL AND ${of(where('b.bonusfee_id'))}`,
    },
  ]
  if (source.has('atomicmarket_royalties_config')) parts.push(...royaltyParts(of))
  return parts
}

function royaltyParts(of: (rest: string) => string): CopyPart[] {
  const dates = ['created_at_time', 'updated_at_time', 'created_at_block', 'updated_at_block']
  return [
    {
      table: 'market.royalty_configs',
      columns: [
        'collection_name',
        ...dates,
        'split_founders',
        'split_templates',
        'split_attributes',
        'attribute_mode',
        'founders',
      ],
      entity: 'royalty config',
      ranges: null,
      select: (where) =>
        `SELECT collection_name, ${dates.join(', ')}, split_founders, split_templates, split_attributes,
           attribute_mode, founders FROM atomicmarket_royalties_config WHERE ${of(where('collection_name'))}`,
    },
    {
      table: 'market.royalty_templates',
      columns: ['collection_name', 'template_id', ...dates, 'recipients'],
      entity: 'royalty template',
      ranges: null,
      select: (where) =>
        `SELECT collection_name, template_id, ${dates.join(', ')}, recipients FROM atomicmarket_royalties_templates
         WHERE ${of(where('collection_name'))}`,
    },
    {
      table: 'market.royalty_attributes',
      columns: [
        'collection_name',
        'rule_id',
        ...dates,
        'weight',
        'source',
        'field',
        'value',
        'recipients',
        'lookup_hash',
      ],
      entity: 'royalty attribute',
      ranges: null,
      select: (where) =>
        `SELECT collection_name, rule_id, ${dates.join(', ')}, weight, source, field, value, recipients, lookup_hash
         FROM atomicmarket_royalties_attributes WHERE ${of(where('collection_name'))}`,
    },
  ]
}

/** Describes how tables are copied whose rows need no conversion. The tables can be copied in any order. */
export function copyParts(context: PartContext): CopyPart[] {
  return [...chainParts(context), ...assetsParts(context), ...marketParts(context)]
}
