import type { Session } from '../../../database/index.ts'
import { Bindings } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { PageWindow } from '../../paging/index.ts'
import { pageAmong } from './account-ranking.ts'
import { oneOf } from './asset-conditions.ts'
import type { ResolvedTemplates } from './template-conditions.ts'

/** Filters that are met, or not, by what the index of an owner's assets holds: template and schema. */
const INDEXED = new Set(['schema_name', 'match', 'search'])

/** Matching assets up to which they are counted one and all. */
const FEW = 40_000
/** Counting an asset in a table of all owners costs as much as looking at so many assets in an owner's stretch. */
const GROUPING = 3
/** Accounts that are looked at beyond those that would do if all had the same share of matching assets. */
const RESERVE = 1.15

/** A request for owners, by their assets that match. */
export interface OwnersRequest {
  readonly values: Values
  /** Parameters that ask about assets. */
  readonly filters: readonly string[]
  readonly attributes: readonly AttributeFilter[]
  readonly resolved: ResolvedTemplates
  /** Makes the conditions on a row `k` of the counter of accounts. */
  readonly accounts: (bindings: Bindings) => readonly string[]
}

/**
 * Where very many assets meet a filter on templates or schemas: a page of owners, as JSON text, from the owners with the
 * most assets, whose matching assets are counted in each one's own stretch of an index. Undefined where counting the
 * matching assets of all owners is quicker, where other filters are asked for, or where those owners do not suffice.
 */
export async function pageByTemplates(
  session: Session,
  { values, filters, attributes, resolved, accounts }: OwnersRequest,
  window: PageWindow,
): Promise<string[] | undefined> {
  const isOwnData = attributes.some(({ family }) => family === 'immutable_data' || family === 'mutable_data')
  if (resolved.kind === 'many' || isOwnData || !filters.every((name) => INDEXED.has(name))) return undefined
  const bindings = new Bindings()
  const matching = [
    ...(resolved.kind === 'ids' ? [`a.template_id = ANY(${bindings.bind(resolved.ids, 'integer[]')})`] : []),
    ...oneOf('a.schema_name', values.texts('schema_name'), bindings),
  ]
  if (matching.length === 0) return undefined
  const looked = await accountsToLookAt(session, await countMatching(session, values, resolved), window)
  if (looked === undefined) return undefined
  const conditions = accounts(bindings)
  const join = `CROSS JOIN LATERAL (SELECT count(*) AS assets FROM assets.assets a
    WHERE a.owner = k.account AND ${matching.join(' AND ')}) l`
  const match = { join, count: 'l.assets' }
  return pageAmong(session, { counters: 'assets.accounts', conditions, match, bindings }, window, looked)
}

/** How many assets, not burned, meet the filters, from counters. */
async function countMatching(
  session: Session,
  values: Values,
  resolved: ResolvedTemplates,
): Promise<{ matching: number; all: number }> {
  const bindings = new Bindings()
  const [table, condition] =
    resolved.kind === 'ids'
      ? // Templates were looked up within the schemas.
        (['template_counts', `n.template_id = ANY(${bindings.bind(resolved.ids, 'integer[]')})`] as const)
      : (['schema_counts', oneOf('n.schema_name', values.texts('schema_name'), bindings)[0]!] as const)
  const rows = await session.query<[matching: number, all: number]>({
    text: `SELECT (SELECT coalesce(sum(n.minted - n.burned), 0)::float8 FROM assets.${table} n WHERE ${condition}),
      (SELECT reltuples::float8 FROM pg_class WHERE oid = 'assets.assets'::regclass)`,
    values: bindings.values,
  })
  const [matching, all] = rows[0]!
  return { matching, all }
}

/**
 * How many of the accounts with the most assets to look at; undefined when that would take longer than counting all that
 * match. Numbers of assets fall about as fast as ranks grow: with a third of the assets matching, the account of rank
 * 300 has as many assets as that of rank 100 has matching ones.
 */
async function accountsToLookAt(
  session: Session,
  { matching, all }: { matching: number; all: number },
  { offset, limit }: PageWindow,
): Promise<number | undefined> {
  if (matching <= FEW || all < matching) return undefined
  const looked = Math.ceil(((offset + limit) * all * RESERVE) / matching)
  const rows = await session.query<[number | null]>({
    text: `SELECT sum(k.assets)::float8
      FROM (SELECT k.assets FROM assets.accounts k ORDER BY k.assets DESC, k.account LIMIT ${looked}) k`,
    values: [],
  })
  return (rows[0]![0] ?? 0) < matching * GROUPING ? looked : undefined
}
