import { shape } from '../../../endpoint/index.ts'
import { readPairs } from '../../../database/index.ts'
import { declareKind } from '../../../records/index.ts'
import type { DeclaredKind, KeyedList, RowParts, Contained } from '../../../records/index.ts'
import { field } from '../../../records/fields/index.ts'
import type { Field, Given, Group, RecordMembers } from '../../../records/fields/index.ts'
import type { SharedRow } from '../../../records/fragments/index.ts'
import { MAX_BYTES_AT_ONCE, MAX_ROWS_AT_ONCE, storedBytes } from '../../../records/sizes/index.ts'
import {
  collectionRow,
  lightCollection,
  lightSchema,
  schemaRow,
  sharedMembers,
  lightTemplate,
  shownName,
  templateRow,
} from './shared-rows.ts'
import { measureAssets, measureContaining } from './record-sizes.ts'
import type { RecordSchema } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'

const backedToken = shape.record('BackedToken', 'Tokens locked in an asset', {
  token_contract: shape.text('Account of the token contract'),
  token_symbol: shape.text('Symbol code'),
  token_precision: shape.integer('Decimal places'),
  amount: shape.integer(
    'Amount in units of the smallest decimal place, with all digits: a double cannot represent every amount above 2^53',
  ),
})

const TOKENS = `json_agg(json_build_object('token_contract', y.token_contract, 'token_symbol', y.token_symbol,
  'token_precision', y.token_precision, 'amount', k.amount) ORDER BY k.token_symbol)::text`

/** JSON array of the tokens that back an asset. Key: asset id. */
const backedTokens: KeyedList = {
  select: `(SELECT string_agg(concat(b.asset_id, E'\\x1f', b.tokens), E'\\x1e') FROM (
    SELECT k.asset_id, ${TOKENS} AS tokens
    FROM a CROSS JOIN LATERAL (SELECT k.* FROM assets.backed_tokens k WHERE k.asset_id = a.asset_id OFFSET 0) k
      JOIN assets.tokens y USING (token_symbol) GROUP BY k.asset_id) b)`,
  read: readPairs,
  one: `(SELECT ${TOKENS} FROM assets.backed_tokens k JOIN assets.tokens y USING (token_symbol)
    WHERE k.asset_id = a.asset_id)`,
}

/** A field that only indexed blocks provide: NULL for assets from an import of the chain state. */
const block = (column: string, description: string): Field =>
  field.ofHistory(field.decimal(`a.${column}`, `Block of ${description}`))
const time = (column: string, description: string): Field =>
  field.ofHistory(field.time(`a.${column}`, `Time of ${description}`))

/** Mint number of the asset with the SQL alias `a`; null if it was minted before the first block that was read. */
export const templateMint: Field = {
  ...field.decimal(
    'coalesce(a.template_mint, CASE WHEN a.template_id IS NULL OR a.minted_at_block <> 0 THEN 0 END)',
    '',
  ),
  schema: shape.ofHistory(shape.decimal('Mint number within the template, from 1; 0 without a template')),
  empty: 'null',
}

/** Members of an asset, in the order of the replaced system. */
const ownFields = {
  asset_id: field.decimal('a.asset_id', 'Asset'),
  owner: field.nullable(field.name('a.owner', 'Owner; null when burned')),
  mutable_data: field.attributes('a.mutable_data', 'Own attributes that may change'),
  immutable_data: field.attributes('a.immutable_data', 'Own attributes that never change'),
  template_mint: templateMint,
  backed_tokens: {
    members: { backed_tokens: shape.list(backedToken, 'Tokens locked in the asset') },
    columns: ['a.asset_id'],
    isText: true,
    write: ({ lists }, id) => `"backed_tokens":${lists[0]!.get(id) ?? '[]'}`,
  },
  burned_by_account: field.nullable(field.name('a.burned_by_account', 'Account that burned the asset')),
  burned_at_block: field.nullable(field.decimal('a.burned_at_block', 'Block of the burn')),
  burned_at_time: field.nullable(field.time('a.burned_at_time', 'Time of the burn')),
  updated_at_block: block('updated_at_block', 'the last mint, transfer, data change or burn'),
  updated_at_time: time('updated_at_time', 'the last mint, transfer, data change or burn'),
  transferred_at_block: block('transferred_at_block', 'the last transfer or the mint'),
  transferred_at_time: time('transferred_at_time', 'the last transfer or the mint'),
  minted_at_block: block('minted_at_block', 'the mint'),
  minted_at_time: time('minted_at_time', 'the mint'),
  original_mint: field.constant(
    'null',
    shape.nullable(shape.decimal('Mint number of the original asset from which the asset was bridged')),
  ),
  shared: {
    members: {
      collection: lightCollection,
      schema: lightSchema,
      is_transferable: shape.flag('Whether the template is transferable; true without a template'),
      is_burnable: shape.flag('Whether the template is burnable; true without a template'),
      template: shape.nullable(lightTemplate),
      data: shape.attributes(
        'All attributes: mutable data of the template, mutable and immutable data of the asset, immutable data of the ' +
          'template; of several attributes with the same name, the last counts',
      ),
      'name?': shownName,
    },
    columns: ['a.mutable_data', 'a.immutable_data'],
    write: ({ shared }, mutableData, immutableData) => sharedMembers(shared, mutableData, immutableData),
  },
} satisfies RecordMembers<RowParts>

/** The differences between the record of an asset in a namespace and the common record of an asset. */
export interface AssetVariant {
  readonly title: string
  readonly description: string
  readonly contract?: Field | Given
  readonly members?: Readonly<Record<string, Group<RowParts>>>
  /** Further shared rows, after collection, schema and template. */
  readonly shared?: readonly SharedRow[]
  /**
   * Further values of an asset record that are read by a query for all assets of a page, besides the backed tokens. The
   * SQL of a value may read the relation `a`, which has the assets of the page.
   */
  readonly lists?: readonly KeyedList[]
}

/** Declares the record type of the assets of a namespace. */
export function assetsOf(variant: AssetVariant): DeclaredKind {
  const { title, description, contract, members, shared = [], lists = [] } = variant
  return declareKind({
    ...{ title, description, alias: 'a', keyType: 'bigint', key: 'a.asset_id' },
    ...{ from: 'assets.assets a' },
    members: {
      contract: contract ?? field.contract('contract', 'Account of the contract'),
      ...ownFields,
      ...members,
    },
    shared: [collectionRow, schemaRow, { ...templateRow, isOptional: true }, ...shared],
    lists: [backedTokens, ...lists],
    measure: measureAssets,
    tooMuch: `(SELECT count(*) > ${MAX_ROWS_AT_ONCE}
      OR sum(${storedBytes('a.immutable_data')} + ${storedBytes('a.mutable_data')}) > ${MAX_BYTES_AT_ONCE} FROM a)`,
    ...(lists.length === 0 && shared.length === 0 && { one: 'a.asset_id = $1::bigint' }),
  })
}

/** Record type of assets in the assets namespace, without prices and listings. */
export const assets = assetsOf({ title: 'Asset', description: 'An asset' })

/**
 * Names of the members of a contained asset that are null if the database has no row of the asset: all members except
 * its id and its contract.
 */
const unknownKeys = assets.schema.required!.filter((name) => name !== 'contract' && name !== 'asset_id')

const nothing: RecordSchema = { type: 'null', description: 'Not known' }

const unknownAsset = shape.record('UnknownAsset', 'An asset of which only the id is known', {
  contract: shape.text('Account of the assets contract'),
  asset_id: shape.decimal('Asset'),
  ...Object.fromEntries(unknownKeys.map((name) => [name, nothing])),
})

const UNKNOWN_MEMBERS = unknownKeys.map((name) => `"${name}":null`).join(',')

/** A member that lists assets inside another record. */
export interface AssetList {
  readonly name: string
  readonly description: string
  /** SQL of the array of asset ids. */
  readonly ids: string
  /** SQL of the assets contract account as JSON; default: the contract of the namespace. */
  readonly contract?: string
}

/**
 * The member that lists the assets in another record, in the order of their ids. An asset without a row shows only its
 * id.
 */
export function assetList(
  kind: DeclaredKind,
  { name, description, ids, contract }: AssetList,
): Group<RowParts> {
  const list = (listed: string, { contained, given }: RowParts, account?: string): Json =>
    jsonArray(
      (listed === '' ? [] : listed.split(',')).map(
        (id) =>
          contained.get(id) ??
          `{"contract":${account ?? given['contract']!},"asset_id":"${id}",${UNKNOWN_MEMBERS}}`,
      ),
    )
  return {
    members: { [name]: shape.list(shape.anyOf([kind.schema, unknownAsset]), description) },
    columns: [`array_to_string(${ids}, ',')`, ...(contract === undefined ? [] : [contract])],
    write: (parts, listed, account) => [`"${name}":`, list(listed, parts, account)],
  }
}

/**
 * Declares which assets a record contains.
 * @param keys SQL of the array of asset ids.
 * @param shows which further objects each record contains: its collection, its template, both or none.
 */
export function containedAssets(
  kind: DeclaredKind,
  keys: string,
  shows?: Parameters<typeof measureContaining>[1],
): Contained {
  return { kind, keys, measure: (rows) => measureContaining(rows, shows) }
}
