import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { assetConditions, schemaHomes } from './asset-conditions.ts'

/**
 * Parameters of the asset filter that ask about the assets themselves, not only which they are. Rows name their
 * collections, so a collection alone needs no look at the assets.
 */
const DETAILS = [
  'owner',
  'burned',
  'template_id',
  'schema_name',
  'is_transferable',
  'is_burnable',
  'minter',
  'initial_receiver',
  'burner',
]

/**
 * Assets up to which rows are found by the assets that they contain; with more, the rows are read in their order and
 * looked into.
 */
const FEW = 5_000
/** The same for assets that cannot be transferred: looking for rows with them in order would find nothing for long. */
const FEW_FIXED = 100_000

/** Where the planner expects so many times more than few assets, nobody looks whether they are few. */
const FAR_MORE = 3

/** What "contains an asset such that …" asks for, as far as it had to be looked up. */
export type ContainedAssets =
  | { readonly kind: 'any' }
  /** The assets that meet every condition. */
  | { readonly kind: 'few'; readonly ids: readonly bigint[]; readonly assets: readonly ContainedAsset[] }
  /**
   * `since`: when the first of them was minted, ms since 1970, where that helps. `first`: those that were minted first or
   * transferred last, as the rows are read, where an index tells.
   */
  | { readonly kind: 'many'; readonly since?: number; readonly first?: readonly ContainedAsset[] }

/** An asset, and when it was minted and last transferred, ms since 1970. */
export interface ContainedAsset {
  readonly id: bigint
  readonly minted: number
  readonly transferred: number
}

/**
 * What cannot be transferred is in no transfer, says the contract; where an asset did change hands all the same, its row
 * tells. There are many that cannot, and to look for each of them takes long.
 */
const MOVED = `(a.transferred_at_block > a.minted_at_block
  OR coalesce(a.owner, a.burned_by_account) <> a.initial_receiver)`

/** What nearly every asset meets. */
const MOSTLY: Readonly<Record<string, boolean>> = { burned: false, is_transferable: true, is_burnable: true }

/**
 * Looks up the assets of "contains an asset such that …": the same asset meets every condition of the asset filter.
 * `asset_id` alone is true also for assets that are not indexed.
 * @param within what contains them: transfers also need the assets' times.
 * @param direction in which order of time the rows are read. Nothing contains an asset before it is minted: what is read
 *   from the oldest on begins with the first of many assets.
 */
export async function findContainedAssets(
  session: Session,
  values: Values,
  within: 'offers' | 'transfers',
  direction: 'ASC' | 'DESC',
): Promise<ContainedAssets> {
  const asked = DETAILS.filter((name) => values.has(name))
  if (asked.length === 0) return { kind: 'any' }
  if (asked.every((name) => name in MOSTLY && MOSTLY[name] === values.bool(name))) return { kind: 'many' }
  const bindings = new Bindings()
  const conditions = [...assetConditions(values, bindings), ...schemaHomes(values, bindings)]
  const isFixed = values.bool('is_transferable') === false
  if (isFixed && within === 'transfers') conditions.push(MOVED)
  const most = isFixed ? FEW_FIXED : FEW
  // Of one filter the planner knows how many meet it.
  const expected = asked.length === 1 ? await expectedOf(session, values) : undefined
  const many = async (): Promise<ContainedAssets> =>
    manyAssets(session, values, direction, within === 'transfers' ? expected : undefined)
  if (expected !== undefined && expected > most * FAR_MORE) return many()
  const where = `FROM assets.assets a ${whereClause(conditions)} LIMIT ${most + 1}`
  if (within === 'offers') {
    // One text instead of a row for each asset.
    const [row] = await session.query<[ids: string | null]>({
      text: `SELECT string_agg(a.asset_id::text, ',') FROM (SELECT a.asset_id ${where}) a`,
      values: bindings.values,
    })
    const ids = row![0] === null ? [] : row![0].split(',').map(BigInt)
    return ids.length > most ? many() : { kind: 'few', ids, assets: [] }
  }
  const rows = await session.query<[bigint, bigint, bigint]>({
    text: `SELECT a.asset_id, a.minted_at_time, a.transferred_at_time ${where}`,
    values: bindings.values,
  })
  if (rows.length > most) return many()
  const assets = rows.map(containedAsset)
  return { kind: 'few', ids: assets.map(({ id }) => id), assets }
}

function containedAsset([id, minted, transferred]: readonly [bigint, bigint, bigint]): ContainedAsset {
  return { id, minted: Number(minted), transferred: Number(transferred) }
}

async function expectedOf(session: Session, values: Values): Promise<number> {
  const bindings = new Bindings()
  // Without the collections of a schema: the planner takes them for a filter of their own.
  return expectedRows(session, assetConditions(values, bindings), bindings)
}

/** @param expected how many they are, about, where those that were minted first may help. */
async function manyAssets(
  session: Session,
  values: Values,
  direction: 'ASC' | 'DESC',
  expected: number | undefined,
): Promise<ContainedAssets> {
  if (direction === 'DESC') return { kind: 'many', first: await lastTransferred(session, values) }
  const bindings = new Bindings()
  const isOrdered = expected !== undefined && expected <= MANY && hasOrderOfIds(values)
  const rows = await session.query<[bigint, bigint, bigint]>({
    text: `SELECT a.asset_id, a.minted_at_time, a.transferred_at_time
      FROM assets.assets a ${whereClause(assetConditions(values, bindings))}
      ORDER BY a.asset_id LIMIT ${isOrdered ? FIRST : 1}`,
    values: bindings.values,
  })
  const first = rows.map(containedAsset)
  // The planner may have been wrong.
  if (first.length === 0) return { kind: 'few', ids: [], assets: [] }
  return { kind: 'many', since: first[0]!.minted, ...(isOrdered ? { first } : {}) }
}

/** Assets that are enough to find the oldest transfers of many. */
const FIRST = 501
/** Assets up to which that is quicker than to look into the transfers in their order. */
const MANY = 30_000

/** Whether an index has the assets in the order of their ids. */
function hasOrderOfIds(values: Values): boolean {
  const asked = DETAILS.filter((name) => values.has(name))
  if (asked.length !== 1) return false
  const name = ['owner', 'minter', 'initial_receiver', 'burner'].find((each) => each === asked[0])
  return name !== undefined && values.texts(name)?.length === 1
}

/** Assets that are enough to find the newest transfers of many. */
const LAST = 4_000

/** What is burned has an index in the order of the last transfers. */
async function lastTransferred(session: Session, values: Values): Promise<ContainedAsset[]> {
  const asked = DETAILS.filter((name) => values.has(name))
  if (asked.join() !== 'burned' || values.bool('burned') !== true) return []
  const rows = await session.query<[bigint, bigint]>({
    text: `SELECT a.asset_id, a.transferred_at_time FROM assets.assets a WHERE a.owner IS NULL
      ORDER BY a.transferred_at_time DESC LIMIT ${LAST}`,
    values: [],
  })
  return rows.map(([id, transferred]) => ({ id, minted: 0, transferred: Number(transferred) }))
}

/** Assets that are looked for at once: every row that is found is compared with all of them. */
const AT_ONCE = 32

/**
 * FROM item of the rows of a table that contain one of a few assets, each once. They are found by the assets, some at a
 * time: for very many at once the planner expects so many rows that it would read the table.
 * @param key key column of the table.
 * @param ids expression on a row `x` with the ids that it contains, as the table's index has it.
 */
export function rowsWithAssets(
  table: string,
  key: string,
  ids: string,
  assets: readonly bigint[],
  bindings: Bindings,
): string {
  const list = bindings.bindIds(assets)
  return `(SELECT DISTINCT ON (m.${key}) m.*
    FROM generate_series(1, ${assets.length}, ${AT_ONCE}) p(first)
      CROSS JOIN LATERAL (SELECT x.* FROM ${table} x WHERE ${ids} && (${list})[p.first:p.first + ${AT_ONCE - 1}] OFFSET 0) m
    ORDER BY m.${key})`
}

/** Assets by which rows are found; undefined when the rows are to be read in their order. */
export function namedAssets(contained: ContainedAssets, values: Values): readonly bigint[] | undefined {
  if (contained.kind === 'few') return contained.ids
  return values.ids('asset_id')
}

/** @param ids expression with the ids of the assets that the row contains, for example `t.asset_ids`. */
export function containedAssetConditions(
  ids: string,
  contained: ContainedAssets,
  values: Values,
  bindings: Bindings,
): string[] {
  const conditions: string[] = []
  const wanted = values.ids('asset_id')
  if (wanted) conditions.push(`${ids} && ${bindings.bindIds(wanted)}`)
  if (contained.kind === 'few') conditions.push(`${ids} && ${bindings.bindIds(contained.ids)}`)
  if (contained.kind === 'many') {
    const details = assetConditions(values, bindings).join(' AND ')
    conditions.push(`EXISTS (SELECT FROM assets.assets a WHERE a.asset_id = ANY(${ids}) AND ${details})`)
  }
  return conditions
}

/** `hide_contracts`: neither account has code, unless the request names it. */
export function hideContractsCondition(
  sender: string,
  recipient: string,
  values: Values,
  bindings: Bindings,
): string[] {
  if (values.bool('hide_contracts') !== true) return []
  const named = ['account', 'sender', 'recipient'].flatMap((name) => values.texts(name) ?? [])
  const exempt = named.length === 0 ? '' : ` AND h.account <> ALL(${bindings.bind(named, 'text[]')})`
  return [
    `NOT EXISTS (SELECT FROM chain.code_accounts h WHERE h.account IN (${sender}, ${recipient})${exempt})`,
  ]
}

/** How many rows, by default assets `a`, PostgreSQL expects to meet conditions. */
export async function expectedRows(
  session: Session,
  conditions: readonly string[],
  { values }: Bindings,
  from = 'assets.assets a',
): Promise<number> {
  const rows = await session.query<[[{ Plan: { 'Plan Rows': number } }]]>({
    text: `EXPLAIN (FORMAT JSON) SELECT FROM ${from} ${whereClause(conditions)}`,
    values,
  })
  return rows[0]![0][0].Plan['Plan Rows']
}
