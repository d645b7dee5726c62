import { keyText, parseKeyText } from '../../../../core/antelope/index.ts'
import type { Session } from '../../../database/index.ts'
import { Bindings } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { invalidParameter } from '../../../endpoint/index.ts'
import { NEVER, oneOf } from '../../assets/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { boundaryConditions, directionOf, keyBoundConditions, keyBounds } from '../../paging/index.ts'

/** Largest number that a state can be to be taken for one. */
const GREATEST_STATE = 2n ** 31n - 1n
const GREATEST_STORED = 2n ** 15n - 1n

/** Parameters that a count from the kept numbers can answer. */
const KEPT = new Set(['page', 'limit', 'order', 'sort', 'count', 'state'])

/** The page of links that a request asks for; keys are link ids. Ids grow with the time of creation. */
export async function linkQuery({ values, session }: EndpointContext): Promise<PageQuery> {
  const bindings = new Bindings()
  const isByUpdate = values.text('sort') === 'updated'
  const columns = { key: 'l.link_id', cast: 'bigint', parameter: 'link_id' } as const
  const conditions = [
    ...oneOf('l.creator', values.texts('creator'), bindings),
    ...oneOf('l.claimer', values.texts('claimer'), bindings),
    ...keyCondition(values, bindings),
    ...stateCondition(values, bindings),
    ...assetCondition(values, bindings),
    ...collectionConditions(values, bindings),
    ...boundaryConditions(values, isByUpdate ? { ...columns, date: 'l.updated_at_time' } : columns, bindings),
    ...(isByUpdate ? [] : await timeConditions(session, values, bindings)),
  ]
  const direction = directionOf(values)
  const order = isByUpdate
    ? `${updateTime(values)} ${direction}, l.link_id ${direction}`
    : `l.link_id ${direction}`
  return { key: 'l.link_id', from: 'tools.links l', conditions, order, bindings }
}

/**
 * The time of the last change, to sort by. Few links belong to one account or key: they are found and then sorted. The
 * sum keeps the planner from walking all links by their time until it meets a hundred of them.
 */
function updateTime(values: Values): string {
  const isSelective = ['creator', 'claimer', 'public_key'].some((name) => values.has(name))
  return isSelective ? '(l.updated_at_time + 0)' : 'l.updated_at_time'
}

/** The number of links from the kept numbers, as text; undefined when the filters are not theirs. */
export async function keptLinkCount({ session, values }: EndpointContext): Promise<string | undefined> {
  if (!values.names().every((name) => KEPT.has(name))) return undefined
  const states = wantedStates(values)
  const rows = await session.query<[string]>({
    name: 'link-count',
    text: `SELECT coalesce(sum(c.links), 0)::text FROM tools.link_counts c
      WHERE $1::smallint[] IS NULL OR c.state = ANY($1::smallint[])`,
    values: [states ?? null],
  })
  return rows[0]![0]
}

async function timeConditions(session: Session, values: Values, bindings: Bindings): Promise<string[]> {
  const source = { table: 'tools.links', key: 'link_id', time: 'created_at_time' }
  return keyBoundConditions(await keyBounds(session, values, source), 'l.link_id', bindings)
}

/** Keys are compared in the form that they are stored in, whatever the form that was given. */
function keyCondition(values: Values, bindings: Bindings): string[] {
  const text = values.text('public_key')
  if (text === undefined) return []
  let packed: Uint8Array
  try {
    packed = parseKeyText('PUB', text)
  } catch {
    throw invalidParameter('public_key')
  }
  return [`l.public_key = ${bindings.bind(keyText('PUB', packed[0]!, packed.subarray(1)), 'text')}`]
}

function stateCondition(values: Values, bindings: Bindings): string[] {
  const states = wantedStates(values)
  return states === undefined ? [] : [`l.state = ANY(${bindings.bind(states, 'smallint[]')})`]
}

/** States that a request asks for; numbers that no state can have are left out, as they match nothing. */
function wantedStates(values: Values): number[] | undefined {
  const states = values.ids('state')
  if (states?.some((state) => state > GREATEST_STATE || state < -GREATEST_STATE - 1n)) {
    throw invalidParameter('state')
  }
  return states?.filter((state) => state >= 0n && state <= GREATEST_STORED).map(Number)
}

function assetCondition(values: Values, bindings: Bindings): string[] {
  const ids = values.ids('asset_id')
  if (ids === undefined) return []
  if (ids.length === 0) return [NEVER]
  // Found first, whatever the order: an asset is in few links, which the planner cannot know.
  const found = `SELECT h.link_id FROM tools.links h WHERE h.asset_ids && ${bindings.bindIds(ids)}`
  return [`l.link_id = ANY(ARRAY(${found}))`]
}

/** Every asset is known and of a collection of the white-list; no asset is of a collection of the black-list. */
function collectionConditions(values: Values, bindings: Bindings): string[] {
  const white = values.texts('collection_whitelist')
  const black = values.texts('collection_blacklist')
  const conditions: string[] = []
  if (white?.length === 0) conditions.push(NEVER)
  else if (white !== undefined) {
    const names = bindings.bind(white, 'text[]')
    // The first of the three is what an index can answer.
    conditions.push(
      `l.collection_names && ${names}`,
      `l.collection_names <@ ${names}`,
      'NOT l.has_unknown_assets',
    )
  }
  if (black !== undefined && black.length > 0) {
    conditions.push(`NOT l.collection_names && ${bindings.bind(black, 'text[]')}`)
  }
  return conditions
}
