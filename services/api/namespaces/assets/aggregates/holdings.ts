import type { Values } from '../../../../core/endpoint/index.ts'
import type { Session } from '../../../database/index.ts'
import { bind, raw, sql, where } from '../../../sql/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import type { Holding, Holdings, TemplateHolding } from '../records/holding-records.ts'
import { packRows, unpackRows } from '../../../database/index.ts'
import { inCollections } from '../../nft/conditions/index.ts'
import { NOT_OFFERED } from '../../nft/asset-lists/index.ts'
import { OF_ANY_SCHEMA } from '../../nft/filters/index.ts'
import type { holdingParameters } from '../parameters.ts'

/**
 * Column of assets.assets that is compared with the requested account: the owner of the asset, or the account that
 * burned the asset.
 */
export type HoldingSide = 'owner' | 'burned_by_account'

/**
 * Maximum number of groups of assets (by schema and template) in an answer. The answer has no pages, and contains the
 * whole record of each template.
 */
const MAX_GROUPS = 20_000

type GroupRow = readonly [collection: string, schema: string, template: number | null, assets: string]

/**
 * Counts the assets that an account owns or burned, filtered by the collection lists and `hide_offers`.
 * @throws RequestError 400 if the assets form more than MAX_GROUPS groups of schema and template.
 */
export async function countHoldings(
  session: Session,
  values: Values<typeof holdingParameters>,
  side: HoldingSide,
  account: string,
): Promise<Holdings> {
  const rows = await groups(session, values, side, account)
  if (rows.length > MAX_GROUPS) {
    throw new RequestError(
      400,
      'Too many templates for one answer; choose collections with collection_whitelist',
    )
  }
  return sumUp(rows)
}

/**
 * Counts the assets that an account owns or burned, by schema and template. For an owner, PostgreSQL counts the assets
 * by an index-only scan.
 */
async function groups(
  session: Session,
  values: Values<typeof holdingParameters>,
  side: HoldingSide,
  account: string,
): Promise<GroupRow[]> {
  const held = [
    sql`${raw(`a.${side}`)} = ${bind(account, 'text')}`,
    ...(side === 'owner' ? [] : [raw('a.owner IS NULL'), OF_ANY_SCHEMA]),
    ...(values.hide_offers === true ? [NOT_OFFERED] : []),
  ]
  const lists = inCollections('s.collection_name', values)
  // `packRows` writes NULL as an empty text: `template_id` is empty for assets without a template.
  const [row] = await session.query<[string | null]>(
    sql`SELECT ${raw(packRows(['h.collection_name', 'h.schema_name', 'h.template_id', 'h.assets']))} FROM (
      SELECT s.collection_name, s.schema_name, g.template_id, g.assets
      FROM (SELECT a.schema_key, a.template_id, count(*) AS assets FROM assets.assets a ${where(held)} GROUP BY 1, 2) g
        JOIN assets.schemas s USING (schema_key) ${where(lists)} LIMIT ${raw(`${MAX_GROUPS + 1}`)}) h`.render(),
  )
  return unpackRows<[string, string, string, string]>(row?.[0]).map(
    ([collection, schema, template, assets]) => {
      return [collection, schema, template === '' ? null : Number(template), assets] as const
    },
  )
}

function sumUp(rows: readonly GroupRow[]): Holdings {
  const collections = new Map<string, bigint>()
  const schemas = new Map<string, bigint>()
  const templates = new Map<string, TemplateHolding>()
  let total = 0n
  for (const [collection, schema, template, count] of rows) {
    const assets = BigInt(count)
    total += assets
    add(collections, collection, assets)
    add(schemas, `${collection}/${schema}`, assets)
    // Assets without a template form one group for each collection, even if they have different schemas.
    const key = template === null ? collection : String(template)
    const before = templates.get(key)?.assets ?? 0n
    templates.set(key, { collection, template, assets: before + assets })
  }
  return {
    total,
    collections: ranked(collections),
    schemas: ranked(schemas),
    templates: [...templates.values()].sort(byRank),
  }
}

function add(sums: Map<string, bigint>, key: string, assets: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + assets)
}

function ranked(sums: ReadonlyMap<string, bigint>): Holding[] {
  return [...sums]
    .map(([key, assets]) => ({ key, assets }))
    .sort((a, b) => compare(b.assets, a.assets) || compare(a.key, b.key))
}

function byRank(a: TemplateHolding, b: TemplateHolding): number {
  const id = (each: TemplateHolding): number => each.template ?? Infinity
  return compare(b.assets, a.assets) || compare(a.collection, b.collection) || compare(id(a), id(b))
}

function compare<T extends bigint | string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
