import type { Session } from '../../../database/index.ts'
import { Bindings } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { RequestError } from '../../../endpoint/index.ts'
import type { Arm, PageQuery } from '../../paging/index.ts'
import {
  armsOfNames,
  boundaryConditions,
  directionOf,
  keyBoundConditions,
  keyBounds,
} from '../../paging/index.ts'
import { NEVER, noneOf, oneOf } from './asset-conditions.ts'
import type { ContainedAssets } from './contained-assets.ts'
import { containedAssetConditions, findContainedAssets, hideContractsCondition } from './contained-assets.ts'
import { memoConditions } from './offer-list.ts'

/** Accounts or collections up to which each is read from its index on its own. */
const MAX_DRIVERS = 64

const BLOCKS = { table: 'assets.blocks', key: 'first_seq', time: 'block_time' }

/**
 * The page of transfers that a request asks for; keys are transfer ids.
 * @throws RequestError 400 when `account` comes with `sender` or `recipient`.
 */
export async function transferQuery(session: Session, values: Values): Promise<PageQuery> {
  if (values.has('account') && (values.has('sender') || values.has('recipient'))) {
    throw new RequestError(400, 'Can not use account and sender or recipient filters at the same time')
  }
  const contained = await findContainedAssets(session, values)
  const bindings = new Bindings()
  const conditions = [
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
    // Transfers carry no time; their blocks do, in the order of the same sequence.
    ...keyBoundConditions(await keyBounds(session, values, BLOCKS), 't.transfer_id', bindings),
  ]
  const direction = directionOf(values)
  return {
    key: 't.transfer_id',
    from: transfersWith(contained, bindings),
    conditions,
    order: `t.transfer_id ${direction}`,
    keyDirection: direction,
    arms: () => transferArms(values, bindings),
    bindings,
  }
}

/** Transfers of few assets are found by these. OFFSET 0 keeps the order of the page out of how. */
function transfersWith(contained: ContainedAssets, bindings: Bindings): string {
  if (contained.kind !== 'few') return 'assets.transfers t'
  return `(SELECT * FROM assets.transfers WHERE asset_ids && ${bindings.bindIds(contained.ids)} OFFSET 0) t`
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
