import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { RequestError } from '../../../endpoint/index.ts'
import type { Arm, KeyBounds, PageQuery } from '../../paging/index.ts'
import {
  armsOfNames,
  boundaryConditions,
  countRows,
  directionOf,
  keyAtTime,
  keyBoundConditions,
  keyBounds,
} from '../../paging/index.ts'
import { assetConditions, NEVER, noneOf, oneOf } from './asset-conditions.ts'
import type { ContainedAssets } from './contained-assets.ts'
import {
  containedAssetConditions,
  findContainedAssets,
  hideContractsCondition,
  namedAssets,
  rowsWithAssets,
} from './contained-assets.ts'
import { memoConditions } from './offer-list.ts'

/** Accounts or collections up to which each is read from its index on its own. */
const MAX_DRIVERS = 64

const BLOCKS = { table: 'assets.blocks', key: 'first_seq', time: 'block_time' }

/**
 * The page of transfers that a request asks for; keys are transfer ids.
 * @throws RequestError 400 when `account` comes with `sender` or `recipient`.
 */
export async function transferQuery(session: Session, values: Values): Promise<PageQuery> {
  const scope = await transferScope(session, values, directionOf(values))
  const { contained, direction } = scope
  const homes = contained.kind === 'many' ? await schemaCollections(session, values) : undefined
  if (homes) {
    const attempt = transfersOf(values, { ...scope, stretch: STRETCH })
    return { ...transfersOf(values, { ...scope, homes }), attempts: [attempt] }
  }
  const attempts: PageQuery[] = []
  for (const { assets, bounds: sure } of await firstMoved(session, contained, direction)) {
    const few = { kind: 'few', ids: assets, assets: [] } as const
    attempts.push(transfersOf(values, { ...scope, contained: few, implied: sure }))
  }
  return { ...transfersOf(values, scope), attempts }
}

/**
 * The number of transfers that a request asks for, as text. Where many assets meet what is asked of one of those that a
 * transfer contains, most transfers contain one asset alone: these are joined with it, as the planner sees fit.
 * @throws RequestError as `transferQuery`.
 */
export async function countTransfers(session: Session, values: Values): Promise<string> {
  const scope = await transferScope(session, values, 'ASC')
  if (scope.contained.kind !== 'many' || values.ids('asset_id'))
    return countRows(session, transfersOf(values, scope))
  const { conditions, bindings } = transfersOf(values, { ...scope, contained: { kind: 'any' } })
  const meets = assetConditions(values, bindings)
  const isBundle = 'cardinality(t.asset_ids) > 1'
  const within = whereClause(['a.asset_id = ANY(t.asset_ids)', ...meets])
  // To the planner the negation of a condition that it knows nothing of is met by most rows.
  const single = whereClause([...conditions, `NOT (${isBundle})`, ...meets])
  const bundles = whereClause([...conditions, isBundle, `EXISTS (SELECT FROM assets.assets a ${within})`])
  const rows = await session.query<[string]>({
    text: `SELECT ((SELECT count(*) FROM assets.transfers t JOIN assets.assets a ON a.asset_id = t.asset_ids[1] ${single})
      + (SELECT count(*) FROM assets.transfers t ${bundles}))::text`,
    values: bindings.values,
  })
  return rows[0]![0]
}

async function transferScope(
  session: Session,
  values: Values,
  direction: 'ASC' | 'DESC',
): Promise<TransferScope> {
  if (values.has('account') && (values.has('sender') || values.has('recipient'))) {
    throw new RequestError(400, 'Can not use account and sender or recipient filters at the same time')
  }
  const contained = await findContainedAssets(session, values, 'transfers', direction)
  // Transfers carry no time; their blocks do, in the order of the same sequence.
  const between = await keyBounds(session, values, BLOCKS)
  const since = contained.kind === 'many' ? contained.since : undefined
  const minted = since === undefined ? undefined : await keyAtTime(session, BLOCKS, since)
  return { contained, between, implied: minted === undefined ? {} : { from: minted }, direction }
}

/** Transfers that are looked at in their order before those of the collections of a schema. */
const STRETCH = 3_000
/** Collections of a schema name up to which the transfers of each are read on their own. */
const MAX_HOMES = 200

/** The collections with a schema of the name that is asked for; undefined when none is asked for, or when many have it. */
async function schemaCollections(session: Session, values: Values): Promise<string[] | undefined> {
  const bindings = new Bindings()
  const [named] = oneOf('s.schema_name', values.texts('schema_name'), bindings)
  if (named === undefined || DRIVING.some((name) => values.has(name))) return undefined
  const rows = await session.query<[string]>({
    text: `SELECT DISTINCT s.collection_name FROM assets.schemas s WHERE ${named} LIMIT ${MAX_HOMES + 1}`,
    values: bindings.values,
  })
  return rows.length > MAX_HOMES ? undefined : rows.map(([name]) => name)
}

/** Filters that have an index of their own. */
const DRIVING = [
  ...['account', 'sender', 'recipient', 'memo', 'match_memo', 'transfer_id', 'ids', 'asset_id'],
  ...['collection_name', 'collection_whitelist'],
]

/** Where transfers are read from. */
interface TransferScope {
  readonly contained: ContainedAssets
  /** Bounds that the request names. */
  readonly between: KeyBounds
  /** Bounds that follow from the assets. */
  readonly implied: KeyBounds
  readonly direction: 'ASC' | 'DESC'
  /** Only so many of all transfers, the first in the order. */
  readonly stretch?: number
  /** Collections that all of them are of. */
  readonly homes?: readonly string[]
}

function transfersOf(
  values: Values,
  { contained, between, implied, direction, stretch, homes }: TransferScope,
): PageQuery {
  const bindings = new Bindings()
  const within = () =>
    [between, implied].flatMap((bounds) => keyBoundConditions(bounds, 't.transfer_id', bindings))
  const conditions = [
    ...oneOf('t.collection_name', homes, bindings),
    ...accountConditions(values, bindings),
    ...memoConditions('t.memo', values, bindings),
    ...containedAssetConditions(
      't.asset_ids',
      contained.kind === 'few' ? { kind: 'any' } : contained,
      values,
      bindings,
    ),
    // Every asset of a transfer is of its collection.
    ...oneOf('t.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('t.collection_name', values.texts('collection_whitelist'), bindings),
    ...noneOf('t.collection_name', values.texts('collection_blacklist'), bindings),
    ...hideContractsCondition('t.sender', 't.recipient', values, bindings),
    ...boundaryConditions(
      values,
      { key: 't.transfer_id', cast: 'bigint', parameter: 'transfer_id' },
      bindings,
    ),
    ...within(),
  ]
  const order = `t.transfer_id ${direction}`
  const query = { key: 't.transfer_id', conditions, order, bindings }
  if (stretch !== undefined) {
    const from = `(SELECT t.* FROM assets.transfers t ${whereClause(within())} ORDER BY ${order} LIMIT ${stretch}) t`
    return { ...query, from }
  }
  return {
    ...query,
    from: transfersWith(contained, values, bindings),
    keyDirection: direction,
    arms: () => transferArms(values, bindings),
  }
}

/** Assets whose transfers are looked for first, of so many more. */
const FIRST = [250, 1_500]

/**
 * Of many assets the first that were moved: the newest transfers are those of the assets that were transferred last, the
 * oldest those of the assets that were minted first. All transfers beyond the bounds are of them.
 */
async function firstMoved(
  session: Session,
  contained: ContainedAssets,
  direction: 'ASC' | 'DESC',
): Promise<{ assets: readonly bigint[]; bounds: KeyBounds }[]> {
  const known = contained.kind === 'few' ? contained.assets : contained.kind === 'many' ? contained.first : []
  if (known === undefined || known.length <= 2 * FIRST[0]!) return []
  const assets = [...known].sort((a, b) =>
    direction === 'DESC' ? b.transferred - a.transferred : a.minted - b.minted,
  )
  const found: { assets: readonly bigint[]; bounds: KeyBounds }[] = []
  for (const many of FIRST.filter((size) => size * 2 < assets.length)) {
    const next = assets[many]!
    const key = await keyAtTime(session, BLOCKS, direction === 'DESC' ? next.transferred + 1 : next.minted)
    const bounds = direction === 'DESC' ? { from: key ?? null } : key === undefined ? {} : { below: key }
    found.push({ assets: assets.slice(0, many).map(({ id }) => id), bounds })
  }
  return found
}

function transfersWith(contained: ContainedAssets, values: Values, bindings: Bindings): string {
  const named = namedAssets(contained, values)
  if (!named) return 'assets.transfers t'
  return `${rowsWithAssets('assets.transfers', 'transfer_id', 'x.asset_ids', named, bindings)} t`
}

function accountConditions(values: Values, bindings: Bindings): string[] {
  const accounts = values.texts('account')
  if (!accounts) {
    return [
      ...oneOf('t.sender', values.texts('sender'), bindings),
      ...oneOf('t.recipient', values.texts('recipient'), bindings),
    ]
  }
  if (accounts.length === 0) return [NEVER]
  const list = bindings.bind(accounts, 'text[]')
  return [`(t.sender = ANY(${list}) OR t.recipient = ANY(${list}))`]
}

/** One stretch of an index for every account on either side, every sender or recipient, or every collection. */
function transferArms(values: Values, bindings: Bindings): Arm[] | undefined {
  const sides = [
    ['account', ['sender', 'recipient']],
    ['sender', ['sender']],
    ['recipient', ['recipient']],
    ['collection_name', ['collection_name']],
    ['collection_whitelist', ['collection_name']],
  ] as const
  for (const [parameter, columns] of sides) {
    const list = values.texts(parameter)
    if (!list) continue
    const isOrdered = list.length < 2 && columns.length === 1
    if (isOrdered || list.length === 0 || list.length > MAX_DRIVERS) return undefined
    return columns.flatMap((column) => armsOfNames(`t.${column}`, list, bindings))
  }
  return undefined
}
