/** Reference results of the entity lists by plain SQL: all conditions, fully sorted, without a planner. */
import pg from 'pg'
import { orOfNoRow } from './values-of-no-row.ts'

export type Filters = Readonly<Record<string, string>>

/** Generates requests for a list, and computes the expected results by plain SQL. */
export interface Oracle {
  /** Draws up to four filters, most with values of existing rows. */
  pick(client: pg.Client, random: () => number): Promise<Filters>
  /** Picks a value for every filter from existing rows. */
  values(client: pg.Client, random: () => number): Promise<Readonly<Record<string, string | undefined>>>
  /** Keys of all rows that match the filters, in the requested order. */
  keys(client: pg.Client, filters: Filters, sort: string, order: 'asc' | 'desc'): Promise<string[]>
}

type Condition = (value: string) => string

interface Table {
  readonly from: string
  readonly key: string
  readonly conditions: Readonly<Record<string, Condition>>
  readonly orders: Readonly<Record<string, (order: string) => string>>
  /** Filter conditions that apply if a request omits the parameter. */
  readonly unless?: Readonly<Record<string, string>>
  /** Builds the condition that one asset of an offer, a transfer or another entity matches all asset filters. */
  readonly contained?: (conditions: readonly string[]) => string
  /** Draws parameter values from a random row. */
  readonly pool: (client: pg.Client, random: () => number) => Promise<Record<string, string | undefined>>
  /** Groups of parameters that exclude each other. */
  readonly apart?: readonly (readonly string[])[]
}

const quoted = (value: string): string => pg.escapeLiteral(value)
const texts = (value: string): string => `(${value.split(',').map(quoted).join(',')})`
const numbers = (value: string): string => `(${value})`
const bigints = (value: string): string => `ARRAY[${value}]::bigint[]`
const names = (value: string): string => `ARRAY[${value.split(',').map(quoted).join(',')}]::text[]`
const like = (value: string): string => quoted(`%${value.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`)
const flag = (value: string, yes: string): string => (value === 'true' ? yes : `NOT (${yes})`)

const assetFields: Readonly<Record<string, Condition>> = {
  owner: (value) => `a.owner IN ${texts(value)}`,
  burned: (value) => flag(value, 'a.owner IS NULL'),
  template_id: (value) => (value === 'null' ? 'a.template_id IS NULL' : `a.template_id IN ${numbers(value)}`),
  collection_name: (value) => `a.collection_name IN ${texts(value)}`,
  schema_name: (value) => `a.schema_name IN ${texts(value)}`,
  is_transferable: (value) => flag(value, 'coalesce(f.transferable, true)'),
  is_burnable: (value) => flag(value, 'coalesce(f.burnable, true)'),
  minter: (value) => `a.minter IN ${texts(value)}`,
  initial_receiver: (value) => `a.initial_receiver IN ${texts(value)}`,
  burner: (value) => `a.burned_by_account IN ${texts(value)}`,
}

const contains =
  (ids: string) =>
  (conditions: readonly string[]): string =>
    `EXISTS (SELECT FROM assets.assets a LEFT JOIN assets.templates f ON f.template_id = a.template_id
      WHERE a.asset_id = ANY(${ids}) AND ${conditions.join(' AND ')})`

const oracleOf = (table: Table): Oracle => ({
  values: table.pool,
  async pick(client, random) {
    const pool = await table.pool(client, random)
    const given = Object.entries(pool).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const chosen: Record<string, string> = {}
    const count = Math.floor(random() * 5)
    for (let i = 0; i < count; i++) {
      const [name, value] = given[Math.floor(random() * given.length)]!
      if (table.apart?.some((group) => group.includes(name) && group.some((other) => other in chosen)))
        continue
      chosen[name] = orOfNoRow(name, value, random)
    }
    return chosen
  },
  async keys(client, filters, sort, order) {
    const details = Object.entries(filters).filter(([name]) => table.contained && name in assetFields)
    const own = Object.entries(filters).filter(
      ([name]) => name in table.conditions || !(table.contained && name in assetFields),
    )
    const conditions = own.map(([name, value]) => table.conditions[name]!(value))
    if (details.length > 0) {
      const ofAsset = details.map(([name, value]) => assetFields[name]!(value))
      if (filters['asset_id']) ofAsset.push(`a.asset_id IN ${numbers(filters['asset_id'])}`)
      conditions.push(table.contained!(ofAsset))
    }
    for (const [name, condition] of Object.entries(table.unless ?? {}))
      if (filters[name] !== 'true') conditions.push(condition)
    const { rows } = await client.query<[string]>({
      text: `SELECT ${table.key}::text FROM ${table.from} WHERE ${['TRUE', ...conditions].join(' AND ')}
        ORDER BY ${table.orders[sort]!(order)}`,
      rowMode: 'array',
    })
    return rows.map(([key]) => key)
  },
})

/** Reads two random rows of a table. */
async function rowsOf(
  client: pg.Client,
  random: () => number,
  query: string,
): Promise<Record<string, string>[]> {
  const { rows } = await client.query<Record<string, string>>(
    `WITH r AS (${query}) SELECT * FROM r OFFSET $1::float8 * (SELECT count(*) - 4 FROM r) LIMIT 4`,
    [random()],
  )
  return rows
}

const several = (rows: readonly Record<string, string | null>[], column: string): string =>
  [...new Set(rows.map((row) => row[column] ?? '1'))].join(',')

const either = (random: () => number, one: string, other: string): string => (random() < 0.6 ? one : other)

const PARTIES = (row: string): Readonly<Record<string, Condition>> => ({
  account: (value) => `(${row}.sender IN ${texts(value)} OR ${row}.recipient IN ${texts(value)})`,
  account_whitelist: (value) => `(${row}.sender IN ${texts(value)} OR ${row}.recipient IN ${texts(value)})`,
  account_blacklist: (value) =>
    `${row}.sender NOT IN ${texts(value)} AND ${row}.recipient NOT IN ${texts(value)}`,
  sender: (value) => `${row}.sender IN ${texts(value)}`,
  recipient: (value) => `${row}.recipient IN ${texts(value)}`,
  memo: (value) => `${row}.memo = ${quoted(value)}`,
  match_memo: (value) => `${row}.memo ILIKE ${like(value)}`,
})

/**
 * Picks values for the filters on the assets of an offer or transfer: from the assets in `ids`, or else from random
 * assets.
 */
async function containedPool(
  client: pg.Client,
  random: () => number,
  ids: readonly string[],
): Promise<Record<string, string | undefined>> {
  const { rows } = await client.query<Record<string, string>>(
    `SELECT a.asset_id::text, a.template_id::text, a.schema_name, coalesce(a.owner, 'nobody') AS owner, a.minter,
      a.initial_receiver, a.burned_by_account FROM assets.assets a WHERE a.asset_id = ANY($1::bigint[])
     UNION ALL (SELECT a.asset_id::text, coalesce(a.template_id, 1)::text, a.schema_name, 'nobody', a.minter,
      a.initial_receiver, a.burned_by_account FROM assets.assets a OFFSET $2 LIMIT 2)`,
    [ids, Math.floor(random() * 9_000)],
  )
  const [asset] = rows
  return {
    asset_id: either(random, ids[0] ?? '1', several(rows, 'asset_id')),
    owner: either(random, asset!['owner']!, several(rows, 'owner')),
    burned: either(random, 'true', 'false'),
    template_id:
      random() < 0.1 ? 'null' : either(random, asset!['template_id'] ?? '1', several(rows, 'template_id')),
    schema_name: either(random, asset!['schema_name']!, several(rows, 'schema_name')),
    is_transferable: either(random, 'true', 'false'),
    is_burnable: either(random, 'true', 'false'),
    minter: asset!['minter'],
    initial_receiver: asset!['initial_receiver'],
    burner: asset!['burned_by_account'] ?? undefined,
  }
}

const BLOCK_TIME = `(SELECT b.block_time FROM assets.blocks b WHERE b.first_seq <= t.transfer_id
  ORDER BY b.first_seq DESC LIMIT 1)`

export const transfers = oracleOf({
  from: 'assets.transfers t',
  key: 't.transfer_id',
  orders: { created: (order) => `t.transfer_id ${order}` },
  contained: contains('t.asset_ids'),
  apart: [
    ['account', 'sender'],
    ['account', 'recipient'],
  ],
  conditions: {
    ...PARTIES('t'),
    hide_contracts: () =>
      'NOT EXISTS (SELECT FROM chain.code_accounts h WHERE h.account IN (t.sender, t.recipient))',
    asset_id: (value) => `t.asset_ids && ${bigints(value)}`,
    collection_name: (value) => `t.collection_name IN ${texts(value)}`,
    collection_whitelist: (value) => `t.collection_name IN ${texts(value)}`,
    collection_blacklist: (value) => `t.collection_name NOT IN ${texts(value)}`,
    transfer_id: (value) => `t.transfer_id IN ${numbers(value)}`,
    lower_bound: (value) => `t.transfer_id >= ${value}`,
    upper_bound: (value) => `t.transfer_id < ${value}`,
    after: (value) => `${BLOCK_TIME} > ${value}`,
    before: (value) => `${BLOCK_TIME} < ${value}`,
  },
  async pool(client, random) {
    const rows = await rowsOf(
      client,
      random,
      `SELECT t.transfer_id::text, t.sender, t.recipient, t.memo, t.collection_name, t.asset_ids[1]::text AS asset,
        ${BLOCK_TIME}::text AS time FROM assets.transfers t`,
    )
    const [row, other] = rows
    return {
      account: either(random, row!['sender']!, several(rows, 'recipient')),
      sender: either(random, row!['sender']!, several(rows, 'sender')),
      recipient: either(random, row!['recipient']!, several(rows, 'recipient')),
      memo: row!['memo'] === '' ? undefined : row!['memo'],
      match_memo: row!['memo'] === '' ? 'sa' : row!['memo']!.slice(1, 6),
      collection_name: either(random, row!['collection_name']!, several(rows, 'collection_name')),
      collection_whitelist: several(rows, 'collection_name'),
      collection_blacklist: several(rows, 'collection_name'),
      transfer_id: several(rows, 'transfer_id'),
      lower_bound: row!['transfer_id'],
      upper_bound: other!['transfer_id'],
      after: row!['time'],
      before: other!['time'],
      ...(await containedPool(client, random, [row!['asset']!])),
    }
  },
})

const OFFERED = '(o.sender_asset_ids || o.recipient_asset_ids)'

export const offers = oracleOf({
  from: 'assets.offers o',
  key: 'o.offer_id',
  orders: {
    created: (order) => `o.created_at_time ${order}, o.offer_id`,
    updated: (order) => `o.updated_at_time ${order}, o.offer_id`,
  },
  contained: contains(OFFERED),
  conditions: {
    ...PARTIES('o'),
    asset_id: (value) => `${OFFERED} && ${bigints(value)}`,
    state: (value) => `o.state IN ${numbers(value)}`,
    collection_name: (value) => `o.collection_names && ${names(value)}`,
    collection_whitelist: (value) => `o.collection_names <@ ${names(value)}`,
    collection_blacklist: (value) => `NOT o.collection_names && ${names(value)}`,
    sender_asset_whitelist: (value) => `o.sender_asset_ids <@ ${bigints(value)}`,
    sender_asset_blacklist: (value) => `NOT o.sender_asset_ids && ${bigints(value)}`,
    recipient_asset_whitelist: (value) => `o.recipient_asset_ids <@ ${bigints(value)}`,
    recipient_asset_blacklist: (value) => `NOT o.recipient_asset_ids && ${bigints(value)}`,
    is_recipient_contract: (value) =>
      flag(value, 'EXISTS (SELECT FROM chain.code_accounts r WHERE r.account = o.recipient)'),
    hide_empty_offers: () => `cardinality(o.sender_asset_ids) > 0 AND cardinality(o.recipient_asset_ids) > 0`,
    offer_id: (value) => `o.offer_id IN ${numbers(value)}`,
    lower_bound: (value) => `o.offer_id >= ${value}`,
    upper_bound: (value) => `o.offer_id < ${value}`,
  },
  async pool(client, random) {
    const rows = await rowsOf(
      client,
      random,
      `SELECT o.offer_id::text, o.sender, o.recipient, o.memo, o.state::text, o.collection_names[1] AS collection,
        coalesce(o.sender_asset_ids[1], 1)::text AS given, coalesce(o.recipient_asset_ids[1], 1)::text AS taken
       FROM assets.offers o`,
    )
    const [row, other] = rows
    return {
      account: either(random, row!['sender']!, several(rows, 'recipient')),
      account_whitelist: several(rows, 'sender'),
      account_blacklist: several(rows, 'recipient'),
      sender: either(random, row!['sender']!, several(rows, 'sender')),
      recipient: either(random, row!['recipient']!, several(rows, 'recipient')),
      memo: row!['memo'] === '' ? undefined : row!['memo'],
      match_memo: row!['memo'] === '' ? 'SW' : row!['memo']!.slice(1, 6),
      state: either(random, row!['state']!, '0,1'),
      collection_name: either(random, row!['collection'] ?? 'none', several(rows, 'collection')),
      collection_whitelist: several(rows, 'collection'),
      collection_blacklist: several(rows, 'collection'),
      sender_asset_whitelist: several(rows, 'given'),
      sender_asset_blacklist: several(rows, 'given'),
      recipient_asset_whitelist: several(rows, 'taken'),
      recipient_asset_blacklist: several(rows, 'taken'),
      is_recipient_contract: either(random, 'true', 'false'),
      hide_empty_offers: 'true',
      offer_id: several(rows, 'offer_id'),
      lower_bound: row!['offer_id'],
      upper_bound: other!['offer_id'],
      ...(await containedPool(client, random, [row!['given']!])),
    }
  },
})

const OF_COLLECTION = (row: string): Readonly<Record<string, Condition>> => ({
  collection_name: (value) => `${row}.collection_name IN ${texts(value)}`,
  collection_whitelist: (value) => `${row}.collection_name IN ${texts(value)}`,
  collection_blacklist: (value) => `${row}.collection_name NOT IN ${texts(value)}`,
  before: (value) => `${row}.created_at_time < ${value}`,
  after: (value) => `${row}.created_at_time > ${value}`,
  authorized_account: (value) =>
    `EXISTS (SELECT FROM assets.collections k WHERE k.collection_name = ${row}.collection_name
      AND ${quoted(value)} = ANY(k.authorized_accounts))`,
})

const TEMPLATE_NAME = `((coalesce(t.mutable_data, '{}'::jsonb) || t.immutable_data) ->> 'name') COLLATE "C"`
const recordNames = [`t.immutable_data ->> 'name'`, `t.mutable_data ->> 'name'`]

export const templates = oracleOf({
  from: 'assets.templates t',
  key: 't.template_id',
  orders: {
    created: (order) => `t.template_id ${order}`,
    name: (order) => `${TEMPLATE_NAME} ${order}, t.template_id`,
  },
  unless: { include_deleted: 't.deleted_at_block IS NULL' },
  conditions: {
    ...OF_COLLECTION('t'),
    include_deleted: () => 'TRUE',
    schema_name: (value) => `t.schema_name IN ${texts(value)}`,
    issued_supply: (value) => `t.issued_supply = ${value}`,
    min_issued_supply: (value) => `t.issued_supply >= ${value}`,
    max_issued_supply: (value) => `t.issued_supply <= ${value}`,
    max_supply: (value) => `t.max_supply = ${value}`,
    has_assets: () =>
      'EXISTS (SELECT FROM assets.template_counts k WHERE k.template_id = t.template_id AND k.minted > k.burned)',
    is_transferable: (value) => flag(value, 't.transferable'),
    is_burnable: (value) => flag(value, 't.burnable'),
    'data.rarity': (value) =>
      `(t.immutable_data ->> 'rarity' = ${quoted(value)} OR t.mutable_data ->> 'rarity' = ${quoted(value)})`,
    match: (value) => `(${recordNames.map((name) => `${name} ILIKE ${like(value)}`).join(' OR ')})`,
    search: (value) => `(${recordNames.map((name) => `${quoted(value)} <% (${name})`).join(' OR ')})`,
    template_id: (value) => `t.template_id IN ${numbers(value)}`,
    lower_bound: (value) => `t.template_id >= ${value}`,
    upper_bound: (value) => `t.template_id < ${value}`,
  },
  async pool(client, random) {
    const rows = await rowsOf(
      client,
      random,
      `SELECT t.template_id::text, t.collection_name, t.schema_name, t.issued_supply::text, t.max_supply::text,
        t.created_at_time::text, t.immutable_data ->> 'rarity' AS rarity,
        coalesce(t.immutable_data ->> 'name', 'Bade') AS name, c.author
       FROM assets.templates t JOIN assets.collections c USING (collection_name)`,
    )
    const [row, other] = rows
    return {
      collection_name: either(random, row!['collection_name']!, several(rows, 'collection_name')),
      collection_whitelist: several(rows, 'collection_name'),
      collection_blacklist: several(rows, 'collection_name'),
      schema_name: either(random, row!['schema_name']!, several(rows, 'schema_name')),
      authorized_account: row!['author'],
      issued_supply: row!['issued_supply'],
      min_issued_supply: row!['issued_supply'],
      max_issued_supply: row!['issued_supply'],
      max_supply: row!['max_supply'],
      has_assets: 'true',
      is_transferable: either(random, 'true', 'false'),
      is_burnable: either(random, 'true', 'false'),
      include_deleted: 'true',
      'data.rarity': row!['rarity'],
      match: row!['name']!.slice(1, 4),
      search: row!['name']!.split(' ')[0],
      template_id: several(rows, 'template_id'),
      lower_bound: row!['template_id'],
      upper_bound: other!['template_id'],
      after: row!['created_at_time'],
      before: other!['created_at_time'],
    }
  },
})

const SHOWN = `(c.collection_name || ' ' || coalesce(c.data ->> 'name', ''))`

export const collections = oracleOf({
  from: 'assets.collections c',
  key: 'c.collection_name',
  orders: {
    created: (order) => `c.created_at_time ${order}, c.collection_name`,
    collection_name: (order) => `c.collection_name ${order}`,
  },
  conditions: {
    ...OF_COLLECTION('c'),
    author: (value) => `c.author IN ${texts(value)}`,
    authorized_account: (value) => `${quoted(value)} = ANY(c.authorized_accounts)`,
    notify_account: (value) => `${quoted(value)} = ANY(c.notify_accounts)`,
    match: (value) => `c.collection_name ILIKE ${like(value)}`,
    search: (value) => `${quoted(value)} <% ${SHOWN}`,
    lower_bound: (value) => `c.collection_name >= ${quoted(value)}`,
    upper_bound: (value) => `c.collection_name < ${quoted(value)}`,
  },
  async pool(client, random) {
    const rows = await rowsOf(
      client,
      random,
      `SELECT c.collection_name, c.author, c.created_at_time::text, c.authorized_accounts[1] AS authorized,
        c.notify_accounts[1] AS notified, c.data ->> 'name' AS name FROM assets.collections c`,
    )
    const [row, other] = rows
    return {
      author: either(random, row!['author']!, several(rows, 'author')),
      authorized_account: row!['authorized'],
      notify_account: row!['notified'] ?? 'atomicmarket',
      match: row!['collection_name']!.slice(1, 3),
      search: row!['name']!.split(' ')[0],
      collection_name: several(rows, 'collection_name'),
      collection_whitelist: several(rows, 'collection_name'),
      collection_blacklist: several(rows, 'collection_name'),
      lower_bound: row!['collection_name'],
      upper_bound: other!['collection_name'],
      after: row!['created_at_time'],
      before: other!['created_at_time'],
    }
  },
})

export const schemas = oracleOf({
  from: `assets.schemas s LEFT JOIN assets.schema_counts k
    ON k.collection_name = s.collection_name AND k.schema_name = s.schema_name`,
  // Key of a schema as the API's list builds it: schema name, space, collection name.
  key: `(s.schema_name || ' ' || s.collection_name)`,
  orders: {
    created: (order) => `s.created_at_time ${order}, s.schema_name, s.collection_name`,
    schema_name: (order) => `s.schema_name ${order}, s.collection_name`,
    assets: (order) => `k.minted ${order} NULLS LAST, s.schema_name, s.collection_name`,
  },
  apart: [['ids', 'schema_name']],
  conditions: {
    ...OF_COLLECTION('s'),
    schema_name: (value) => `s.schema_name IN ${texts(value)}`,
    ids: (value) => `s.schema_name IN ${texts(value)}`,
    match: (value) => `s.schema_name ILIKE ${like(value)}`,
    lower_bound: (value) => `s.schema_name >= ${quoted(value)}`,
    upper_bound: (value) => `s.schema_name < ${quoted(value)}`,
  },
  async pool(client, random) {
    const rows = await rowsOf(
      client,
      random,
      `SELECT s.collection_name, s.schema_name, s.created_at_time::text, c.author
       FROM assets.schemas s JOIN assets.collections c USING (collection_name)`,
    )
    const [row, other] = rows
    return {
      collection_name: either(random, row!['collection_name']!, several(rows, 'collection_name')),
      collection_whitelist: several(rows, 'collection_name'),
      collection_blacklist: several(rows, 'collection_name'),
      schema_name: either(random, row!['schema_name']!, several(rows, 'schema_name')),
      ids: several(rows, 'schema_name'),
      authorized_account: row!['author'],
      match: row!['schema_name']!.slice(0, 3),
      lower_bound: row!['schema_name'],
      upper_bound: other!['schema_name'],
      after: row!['created_at_time'],
      before: other!['created_at_time'],
    }
  },
})

export const links = oracleOf({
  from: 'tools.links l',
  key: 'l.link_id',
  orders: {
    created: (order) => `l.link_id ${order}`,
    updated: (order) => `l.updated_at_time ${order}, l.link_id ${order}`,
  },
  conditions: {
    creator: (value) => `l.creator IN ${texts(value)}`,
    claimer: (value) => `l.claimer IN ${texts(value)}`,
    public_key: (value) => `l.public_key = ${quoted(value)}`,
    state: (value) => `l.state IN ${numbers(value)}`,
    asset_id: (value) => `l.asset_ids && ${bigints(value)}`,
    collection_whitelist: (
      value,
    ) => `cardinality(l.collection_names) > 0 AND l.collection_names <@ ${names(value)}
      AND NOT l.has_unknown_assets`,
    collection_blacklist: (value) => `NOT l.collection_names && ${names(value)}`,
    link_id: (value) => `l.link_id IN ${numbers(value)}`,
    lower_bound: (value) => `l.link_id >= ${value}`,
    upper_bound: (value) => `l.link_id < ${value}`,
  },
  async pool(client, random) {
    const rows = await rowsOf(
      client,
      random,
      `SELECT l.link_id::text, l.creator, l.claimer, l.public_key, l.state::text, l.asset_ids[1]::text AS asset,
        l.collection_names[1] AS collection FROM tools.links l`,
    )
    const [row, other] = rows
    return {
      creator: either(random, row!['creator']!, several(rows, 'creator')),
      claimer: either(random, row!['claimer'] ?? 'nobody', several(rows, 'claimer')),
      // Generated links have short placeholders in place of public keys, which the API refuses as invalid.
      public_key: rows.find((each) => each['public_key']!.length > 40)?.['public_key'],
      state: either(random, row!['state']!, '0,3'),
      asset_id: either(random, row!['asset']!, several(rows, 'asset')),
      collection_whitelist: several(rows, 'collection'),
      collection_blacklist: several(rows, 'collection'),
      link_id: several(rows, 'link_id'),
      lower_bound: row!['link_id'],
      upper_bound: other!['link_id'],
    }
  },
})
