import type { Sql } from '../../../sql/index.ts'
import { joinSql, raw, sql } from '../../../sql/index.ts'
import type { Json } from '../../../json/index.ts'
import type { Assembler } from '../../../records/index.ts'
import { cte, wantedTogether } from '../../../records/index.ts'
import { packRows, unpackRows } from '../../../database/index.ts'
import type { RecordSource } from '../../nft/records/index.ts'
import {
  assetArray,
  collectionBytes,
  containedKeys,
  measureContaining,
  templateBytes,
  templateObject,
} from '../../nft/records/index.ts'
import {
  collectionFragment,
  collectionObject,
  collectionVersionsOf,
  readPairs,
  templateFragment,
  templateVersionsOf,
} from '../../nft/fragments/index.ts'
import type { MarketTraits } from './asset-members.ts'
import type { ListingField, ListingKind } from './listing-kinds.ts'
import { PRESENT_FEE } from './listing-kinds.ts'

/** Name of the relation that contained assets are selected from. */
const CONTAINED = 'contained'

/** Last member of a listing: none in a single record, its position in a list. */
export type ListingEnd = 'alone' | 'with its place'

/** What listings are assembled with. */
export interface ListingSource extends MarketTraits {
  readonly assets: Pick<RecordSource, 'contract'>
  /** Assembles the assets in them. */
  readonly contained: Assembler
}

/** Fields of a packed row before those of the members. */
type ListingRow = readonly [
  collection: string,
  template: string,
  assets: string,
  fee: string,
  stateNow: string,
  ...members: string[],
]

const MEMBERS_AT = 5

/** Assembles listings of one kind, by id. */
export function listingAssembler(
  source: ListingSource,
  kind: ListingKind,
  end: ListingEnd = 'alone',
): Assembler {
  const { contained } = source
  const own = kind.fields.filter(({ value }) => value !== PRESENT_FEE)
  const packed = ['collection_name', 'template', 'assets', 'fee', 'now', ...own.map(({ name }) => name)]
  const columns = [
    `(SELECT ${packRows(
      packed.map((name) => `r.own_${name}`),
      'r.n',
    )} FROM r)`,
    collectionVersionsOf('r'),
    kind.hasTemplate ? templateVersionsOf('r') : 'NULL::text',
  ].map(raw)
  const ownCtes = (keys: string): Sql[] => [
    sql`${raw('r AS MATERIALIZED (')}${rowsOf(kind, own, keys, source.clock)}${raw(')')}`,
    cte(CONTAINED, containedKeys('r', 'r.asset_ids')),
  ]
  return {
    keyType: 'bigint',
    columnCount: columns.length + contained.columnCount,
    select(keys) {
      const assets = contained.select(CONTAINED)
      return { ...assets, ctes: [...ownCtes(keys), ...assets.ctes], columns: [...columns, ...assets.columns] }
    },
    measure: (keys) =>
      measureContaining({
        ...{ ctes: ownCtes(keys), contained: CONTAINED, assetIds: 'r.asset_ids' },
        key: `r.own_${kind.key}`,
        texts: packed.map((name) => `r.own_${name}`),
        further: `${collectionBytes('r')} + ${kind.hasTemplate ? templateBytes('r') : '0'}`,
      }),
    read([rows, collections, templates, ...texts]) {
      const pending = contained.read(texts)
      const versions = new Map([
        [collectionFragment, readPairs(collections)],
        [templateFragment, readPairs(templates)],
      ])
      return {
        versions: wantedTogether(versions, pending.versions),
        assemble(found, before = 0) {
          const assets = pending.assemble(found)
          const head = `{"market_contract":"${source.contract}","assets_contract":"${source.assets.contract}"`
          const records = new Map<string, Json>()
          for (const row of unpackRows<ListingRow>(rows)) {
            const [collectionName, templateId, assetIds, fee, stateNow] = row
            const collection = found.get(collectionFragment, collectionName)
            const template = found.get(templateFragment, templateId)
            // Gone between two statements: a fork has just undone it.
            if (!collection || (kind.hasTemplate && !template)) continue
            const members = membersOf(kind.fields, row, collection.texts[1]!)
            const shared = [',"collection":', collectionObject(collection, fee)]
            const ofTemplate = template ? [',"template":', templateObject(template)] : ''
            const last = end === 'alone' ? '}' : `,"ordinality":"${before + records.size + 1}"}`
            records.set(row[MEMBERS_AT]!, [
              `${head}${members}${stateNow === '' ? '' : `,"state":${stateNow}`},"assets":`,
              assetArray(assetIds, assets, source.assets.contract),
              shared,
              ofTemplate,
              last,
            ])
          }
          return records
        },
      }
    },
  }
}

/** Query of the rows of a page: their columns as `own_…`, and what else is read from them. */
function rowsOf(kind: ListingKind, fields: readonly ListingField[], keys: string, clock: () => number): Sql {
  const { key, table, joins, condition, assetIds, hasTemplate, stateAt } = kind
  const template = hasTemplate ? 'l.template_id' : 'NULL::integer'
  const selected = [
    raw(`l.collection_name, l.collection_name AS own_collection_name, ${template} AS template_id,
      ${template} AS own_template, ${assetIds} AS asset_ids, array_to_string(${assetIds}, ',') AS own_assets,
      l.collection_fee AS own_fee`),
    sql`${stateAt ? stateAt(clock()) : raw('NULL::text')} AS own_now`,
    ...fields
      .filter(({ name }) => name !== 'collection_name')
      .map(({ name, value }) => raw(`${value} AS own_${name}`)),
  ]
  return sql`SELECT p.n, l.* FROM ${raw(keys)} p CROSS JOIN LATERAL (
      SELECT ${joinSql(selected, ', ')} FROM ${raw(table)} l ${raw(joins)}
      WHERE ${raw(`l.${key} = p.k${condition === undefined ? '' : ` AND ${condition}`}`)} OFFSET 0) l`
}

/** The members of a listing, each with a comma before. */
function membersOf(fields: readonly ListingField[], row: ListingRow, presentFee: string): string {
  let text = ''
  let at = MEMBERS_AT
  for (const { name, value, isQuoted } of fields) {
    const found = value === PRESENT_FEE ? presentFee : row[at++]!
    if (!isQuoted) text += `,"${name}":${found}`
    else text += found === '' ? `,"${name}":null` : `,"${name}":"${found}"`
  }
  return text
}
