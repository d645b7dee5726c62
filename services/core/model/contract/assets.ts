import { parseSymbol } from '../../antelope/index.ts'
import { assetsTables as tables } from '../tables/index.ts'
import {
  attributes,
  big,
  bigs,
  childRows,
  contractTable,
  double,
  flag,
  int,
  members,
  quantities,
  scope,
  text,
  texts,
} from './contract-table.ts'
import type { ColumnReader } from './contract-table.ts'

/**
 * Creates a reader of an attribute column, which decodes the attributes in the format of the row's schema.
 *
 * @param collection function that reads the name of the schema's collection from the row.
 */
const bySchema =
  (field: string, collection: ColumnReader<string>): ColumnReader<string | null> =>
  (row) =>
    attributes(row.formats.formatOf(collection(row), row.data.schema_name as string), row.data[field])

/** Tables of the assets contract. */
export const assetsContract = {
  config: contractTable(
    {
      family: 'assets',
      name: 'config',
      children: [
        childRows(
          { name: 'tokens', by: [] },
          tables.tokens,
          ['token_symbol', 'token_precision', 'token_contract'],
          ({ data }) =>
            (data.supported_tokens as { sym: string; contract: string }[]).map(({ sym, contract }) => ({
              token_symbol: parseSymbol(sym).symbol,
              token_precision: parseSymbol(sym).precision,
              token_contract: contract,
            })),
        ),
      ],
    },
    tables.config,
    {
      contract: scope,
      asset_counter: big('asset_counter'),
      template_counter: int('template_counter'),
      offer_counter: big('offer_counter'),
      collection_format: members('collection_format', 'name', 'type'),
    },
  ),
  tokenconfigs: contractTable({ family: 'assets', name: 'tokenconfigs' }, tables.config, {
    contract: scope,
    standard: text('standard'),
    version: text('version'),
  }),
  collections: contractTable(
    { family: 'assets', name: 'collections', primary: 'collection_name' },
    tables.collections,
    {
      collection_name: text('collection_name'),
      author: text('author'),
      allow_notify: flag('allow_notify'),
      authorized_accounts: texts('authorized_accounts'),
      notify_accounts: texts('notify_accounts'),
      market_fee: double('market_fee'),
      data: ({ data, formats }) => attributes(formats.collectionFormat, data.serialized_data) ?? '{}',
    },
  ),
  schemas: contractTable({ family: 'assets', name: 'schemas', primary: 'schema_name' }, tables.schemas, {
    collection_name: scope,
    schema_name: text('schema_name'),
    format: members('format', 'name', 'type'),
  }),
  schematypes: contractTable(
    { family: 'assets', name: 'schematypes', primary: 'schema_name' },
    tables.schemas,
    {
      collection_name: scope,
      schema_name: text('schema_name'),
      types: members('format_type', 'name', 'mediatype', 'info'),
    },
  ),
  authorswaps: contractTable(
    { family: 'assets', name: 'authorswaps', primary: 'collection_name' },
    tables.authorSwaps,
    {
      collection_name: text('collection_name'),
      current_author: text('current_author'),
      new_author: text('new_author'),
      acceptance_date: int('acceptance_date'),
    },
  ),
  balances: contractTable(
    {
      family: 'assets',
      name: 'balances',
      primary: 'owner',
      key: ['owner'],
      children: [
        childRows(
          { name: 'quantities', by: ['owner'] },
          tables.balances,
          ['token_symbol', 'amount'],
          ({ data }) => quantities(data.quantities),
        ),
      ],
    },
    tables.balances,
    { owner: text('owner') },
  ),
  templates: contractTable(
    { family: 'assets', name: 'templates', primary: 'template_id' },
    tables.templates,
    {
      template_id: int('template_id'),
      collection_name: scope,
      schema_name: text('schema_name'),
      transferable: flag('transferable'),
      burnable: flag('burnable'),
      max_supply: int('max_supply'),
      issued_supply: int('issued_supply'),
      immutable_data: (row) => bySchema('immutable_serialized_data', scope)(row) ?? '{}',
    },
  ),
  templates2: contractTable(
    { family: 'assets', name: 'templates2', primary: 'template_id' },
    tables.templates,
    {
      template_id: int('template_id'),
      collection_name: scope,
      schema_name: text('schema_name'),
      mutable_data: bySchema('mutable_serialized_data', scope),
    },
  ),
  assets: contractTable(
    {
      family: 'assets',
      name: 'assets',
      primary: 'asset_id',
      children: [
        childRows(
          { name: 'backed_tokens', by: ['asset_id'] },
          tables.backedTokens,
          ['token_symbol', 'amount'],
          ({ data }) => quantities(data.backed_tokens),
        ),
      ],
    },
    tables.assets,
    {
      asset_id: big('asset_id'),
      owner: scope,
      collection_name: text('collection_name'),
      schema_name: text('schema_name'),
      template_id: ({ data }) => (Number(data.template_id) < 0 ? null : Number(data.template_id)),
      ram_payer: text('ram_payer'),
      immutable_data: bySchema('immutable_serialized_data', text('collection_name')),
      mutable_data: bySchema('mutable_serialized_data', text('collection_name')),
    },
  ),
  offers: contractTable({ family: 'assets', name: 'offers', primary: 'offer_id' }, tables.offers, {
    offer_id: big('offer_id'),
    sender: text('sender'),
    recipient: text('recipient'),
    sender_asset_ids: bigs('sender_asset_ids'),
    recipient_asset_ids: bigs('recipient_asset_ids'),
    memo: text('memo'),
    ram_payer: text('ram_payer'),
  }),
}
