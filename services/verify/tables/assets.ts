import { nameToBigInt } from '../../core/antelope/index.ts'
import type { VerifiedTable } from './table.ts'
import {
  attributes,
  big,
  bigList,
  byName,
  byNumber,
  flag,
  float,
  freeText,
  freeTextColumn,
  id,
  ids,
  int,
  onlyRow,
  plain,
  quantities,
  sortBy,
  symbolAs,
  text,
} from './values.ts'

const pick = (rows: unknown, names: readonly string[]): unknown[] =>
  (rows as Record<string, unknown>[]).map((row) => Object.fromEntries(names.map((name) => [name, row[name]])))

const format = (fields: unknown) => pick(fields, ['name', 'type'])

/** A database that was taken over from eosio-contract-api learns who pays for a row when the row changes. */
const UNKNOWN_PAYER = "t.ram_payer IS NULL AND EXISTS (SELECT 1 FROM chain.imports WHERE kind = 'database')"

/** Tables of the assets contract. */
export const assetsTables: readonly VerifiedTable[] = [
  {
    name: 'assets.config',
    family: 'assets',
    contractTable: 'config',
    key: [{ name: 'contract', type: 'text' }],
    from: 'assets.config t',
    where: 't.asset_counter IS NOT NULL',
    columns: [
      big('asset_counter'),
      plain('template_counter', 'integer'),
      big('offer_counter'),
      plain('collection_format', 'jsonb'),
      {
        name: 'tokens',
        children: {
          table: 'assets.tokens',
          by: [],
          columns: { token_symbol: 'text', token_precision: 'integer', token_contract: 'text' },
        },
      },
    ],
    expect: ({ scope, data }) => ({
      key: [scope],
      values: {
        asset_counter: id(data.asset_counter),
        template_counter: int(data.template_counter),
        offer_counter: id(data.offer_counter),
        collection_format: format(data.collection_format),
        tokens: sortBy(
          (data.supported_tokens as { sym: string; contract: string }[]).map(({ sym, contract }) => ({
            ...symbolAs(sym, 'token_symbol', 'token_precision'),
            token_contract: contract,
          })),
          (token) => String((token as Record<string, unknown>).token_symbol),
        ),
      },
    }),
    locate: onlyRow('config'),
  },
  {
    name: 'assets.config',
    label: 'assets.config (tokenconfigs)',
    family: 'assets',
    contractTable: 'tokenconfigs',
    key: [{ name: 'contract', type: 'text' }],
    from: 'assets.config t',
    where: 't.version IS NOT NULL',
    columns: [plain('standard', 'text'), plain('version', 'text')],
    expect: ({ scope, data }) => ({
      key: [scope],
      values: { standard: text(data.standard), version: text(data.version) },
    }),
    locate: onlyRow('tokenconfigs'),
  },
  {
    name: 'assets.balances',
    family: 'assets',
    contractTable: 'balances',
    key: [{ name: 'owner', type: 'text' }],
    from: '(SELECT DISTINCT owner FROM assets.balances) t',
    columns: [
      {
        name: 'quantities',
        children: {
          table: 'assets.balances',
          by: ['owner'],
          columns: { token_symbol: 'text', amount: 'bigint' },
          unique: 'token_symbol',
        },
      },
    ],
    expect: ({ data }) => ({
      key: [text(data.owner)],
      values: { quantities: quantities(data.quantities) },
    }),
    locate: byName,
  },
  {
    name: 'assets.collections',
    family: 'assets',
    contractTable: 'collections',
    key: [{ name: 'collection_name', type: 'text' }],
    from: 'assets.collections t',
    collection: 'collection_name',
    columns: [
      plain('author', 'text'),
      plain('allow_notify', 'boolean'),
      plain('authorized_accounts', 'text[]'),
      plain('notify_accounts', 'text[]'),
      plain('market_fee', 'double precision'),
      plain('data', 'jsonb'),
    ],
    expect: ({ data }, { collectionFormat }) => ({
      key: [text(data.collection_name)],
      values: {
        author: text(data.author),
        allow_notify: flag(data.allow_notify),
        authorized_accounts: data.authorized_accounts,
        notify_accounts: data.notify_accounts,
        market_fee: float(data.market_fee),
        data: attributes(collectionFormat, data.serialized_data),
      },
    }),
    locate: byName,
  },
  {
    name: 'assets.author_swaps',
    family: 'assets',
    contractTable: 'authorswaps',
    key: [{ name: 'collection_name', type: 'text' }],
    from: 'assets.author_swaps t',
    collection: 'collection_name',
    columns: [
      plain('current_author', 'text'),
      plain('new_author', 'text'),
      plain('acceptance_date', 'bigint'),
    ],
    expect: ({ data }) => ({
      key: [text(data.collection_name)],
      values: {
        current_author: text(data.current_author),
        new_author: text(data.new_author),
        acceptance_date: int(data.acceptance_date),
      },
    }),
    locate: byName,
  },
  {
    name: 'assets.schemas',
    family: 'assets',
    contractTable: 'schemas',
    key: [
      { name: 'collection_name', type: 'text' },
      { name: 'schema_name', type: 'text' },
    ],
    from: 'assets.schemas t',
    collection: 'collection_name',
    scopedByCollection: true,
    columns: [plain('format', 'jsonb')],
    expect: ({ scope, data }) => ({
      key: [scope, text(data.schema_name)],
      values: { format: format(data.format) },
    }),
    locate: ([collection, schema]) => ({ scope: collection!, primary: nameToBigInt(schema!) }),
  },
  {
    name: 'assets.schemas',
    label: 'assets.schemas (types)',
    family: 'assets',
    contractTable: 'schematypes',
    key: [
      { name: 'collection_name', type: 'text' },
      { name: 'schema_name', type: 'text' },
    ],
    from: 'assets.schemas t',
    where: 't.types IS NOT NULL',
    collection: 'collection_name',
    scopedByCollection: true,
    columns: [plain('types', 'jsonb')],
    expect: ({ scope, data }) => ({
      key: [scope, text(data.schema_name)],
      values: { types: pick(data.format_type, ['name', 'mediatype', 'info']) },
    }),
    locate: ([collection, schema]) => ({ scope: collection!, primary: nameToBigInt(schema!) }),
    clears: ['types'],
  },
  {
    name: 'assets.templates',
    family: 'assets',
    contractTable: 'templates',
    key: [{ name: 'template_id', type: 'integer' }],
    from: 'assets.templates t',
    where: 't.deleted_at_block IS NULL',
    ended: 'deleted templates',
    collection: 'collection_name',
    scopedByCollection: true,
    columns: [
      plain('collection_name', 'text'),
      plain('schema_name', 'text'),
      plain('transferable', 'boolean'),
      plain('burnable', 'boolean'),
      plain('max_supply', 'bigint'),
      plain('issued_supply', 'bigint'),
      plain('immutable_data', 'jsonb'),
    ],
    expect: ({ scope, data }, { formatOf }) => ({
      key: [id(data.template_id)],
      values: {
        collection_name: scope,
        schema_name: text(data.schema_name),
        transferable: flag(data.transferable),
        burnable: flag(data.burnable),
        max_supply: int(data.max_supply),
        issued_supply: int(data.issued_supply),
        immutable_data: attributes(formatOf(scope, text(data.schema_name)), data.immutable_serialized_data),
      },
    }),
    locate: ([template], values) => ({
      scope: values.collection_name as string,
      primary: BigInt(template!),
    }),
  },
  {
    name: 'assets.templates',
    label: 'assets.templates (mutable data)',
    family: 'assets',
    contractTable: 'templates2',
    key: [{ name: 'template_id', type: 'integer' }],
    from: 'assets.templates t',
    where: 't.mutable_data IS NOT NULL AND t.deleted_at_block IS NULL',
    collection: 'collection_name',
    scopedByCollection: true,
    columns: [{ name: 'collection_name' }, { name: 'schema_name' }, plain('mutable_data', 'jsonb')],
    expect: ({ scope, data }, { formatOf }) => ({
      key: [id(data.template_id)],
      values: {
        collection_name: scope,
        schema_name: text(data.schema_name),
        mutable_data: attributes(formatOf(scope, text(data.schema_name)), data.mutable_serialized_data),
      },
    }),
    locate: ([template], values) => ({
      scope: values.collection_name as string,
      primary: BigInt(template!),
    }),
    clears: ['mutable_data'],
  },
  {
    name: 'assets.assets',
    family: 'assets',
    contractTable: 'assets',
    key: [{ name: 'asset_id', type: 'bigint' }],
    from: 'assets.assets t',
    where: 't.owner IS NOT NULL',
    ended: 'burned assets',
    collection: 'collection_name',
    columns: [
      plain('owner', 'text'),
      plain('collection_name', 'text'),
      plain('schema_name', 'text'),
      { name: 'template_id', sql: 'coalesce(t.template_id, -1)', type: 'integer', write: 'nullif($, -1)' },
      { ...plain('ram_payer', 'text'), unknown: UNKNOWN_PAYER },
      {
        name: 'immutable_data',
        sql: "coalesce(t.immutable_data, '{}')",
        type: 'jsonb',
        write: "nullif($, '{}')",
      },
      {
        name: 'mutable_data',
        sql: "coalesce(t.mutable_data, '{}')",
        type: 'jsonb',
        write: "nullif($, '{}')",
      },
      {
        name: 'backed_tokens',
        children: {
          table: 'assets.backed_tokens',
          by: ['asset_id'],
          columns: { token_symbol: 'text', amount: 'bigint' },
        },
      },
    ],
    expect: ({ scope, data }, { formatOf }) => {
      const fields = formatOf(text(data.collection_name), text(data.schema_name))
      return {
        key: [id(data.asset_id)],
        values: {
          owner: scope,
          collection_name: text(data.collection_name),
          schema_name: text(data.schema_name),
          template_id: int(data.template_id),
          ram_payer: text(data.ram_payer),
          immutable_data: attributes(fields, data.immutable_serialized_data),
          mutable_data: attributes(fields, data.mutable_serialized_data),
          backed_tokens: quantities(data.backed_tokens),
        },
      }
    },
    locate: ([asset], values) => ({ scope: values.owner as string, primary: BigInt(asset!) }),
  },
  {
    name: 'assets.offers',
    family: 'assets',
    contractTable: 'offers',
    key: [{ name: 'offer_id', type: 'bigint' }],
    from: 'assets.offers t',
    where: 't.state IN (0, 1)',
    ended: 'ended offers',
    columns: [
      plain('sender', 'text'),
      plain('recipient', 'text'),
      bigList('sender_asset_ids'),
      bigList('recipient_asset_ids'),
      freeTextColumn('memo'),
      { ...plain('ram_payer', 'text'), unknown: UNKNOWN_PAYER },
    ],
    expect: ({ data }) => ({
      key: [id(data.offer_id)],
      values: {
        sender: text(data.sender),
        recipient: text(data.recipient),
        sender_asset_ids: ids(data.sender_asset_ids),
        recipient_asset_ids: ids(data.recipient_asset_ids),
        memo: freeText(data.memo),
        ram_payer: text(data.ram_payer),
      },
    }),
    locate: byNumber,
  },
]
