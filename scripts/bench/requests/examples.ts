import type pg from 'pg'
import { marketFixed, marketSources } from './market-examples.ts'
import type { Source } from './sources.ts'
import { ranked, spread } from './sources.ts'

/**
 * How many rows an example value matches. popular: very many rows. typical: as many rows as the value of a random row.
 * rare: very few rows. missing: no row.
 */
export type ExampleKind = 'popular' | 'typical' | 'rare' | 'missing'

/** An example value of a parameter. */
export interface Example {
  readonly kind: ExampleKind
  readonly value: string
}

/**
 * Example values sampled from the data, by parameter name. A key `TAG NAME` takes precedence for endpoints with that
 * tag. Attribute filters have keys `FAMILY[:typing].KEY`.
 */
export type Examples = ReadonlyMap<string, readonly Example[]>

const ASSETS = 'assets.assets a'
const TEMPLATES = 'assets.templates t'

/** Queries for values, ranked by frequency. */
const sources: readonly Source[] = [
  ranked(
    ['owner', 'hide_templates_by_accounts', 'accounts ids', 'accounts account', 'account_blacklist'],
    'a.owner',
    `${ASSETS} WHERE a.owner IS NOT NULL`,
  ),
  ranked(
    ['burner', 'burned_by_account', 'burns ids', 'burns account'],
    'a.burned_by_account',
    `${ASSETS} WHERE a.owner IS NULL`,
  ),
  ranked(['minter'], 'a.minter', ASSETS),
  ranked(['initial_receiver'], 'a.initial_receiver', ASSETS),
  ranked(
    ['collection_name', 'collection_whitelist', 'collection_blacklist', 'collections ids'],
    'a.collection_name',
    ASSETS,
  ),
  ranked(['schema_name', 'schemas ids'], 'a.schema_name', ASSETS),
  ranked(
    ['template_id', 'template_whitelist', 'template_blacklist', 'templates ids'],
    'a.template_id',
    `${ASSETS} WHERE a.template_id IS NOT NULL`,
    '77777777',
  ),
  ranked(['authorized_account'], 'm', 'assets.collections, unnest(authorized_accounts) m'),
  ranked(['notify_account'], 'm', 'assets.collections, unnest(notify_accounts) m'),
  ranked(['author'], 'author', 'assets.collections'),
  ranked(['account', 'sender', 'account_whitelist'], 'sender', 'assets.transfers'),
  ranked(['recipient'], 'recipient', 'assets.transfers'),
  ranked(['offers sender'], 'sender', 'assets.offers'),
  ranked(['offers recipient', 'offers account', 'offers account_whitelist'], 'recipient', 'assets.offers'),
  ranked(['memo'], 'memo', `assets.transfers WHERE memo <> ''`, 'no such memo'),
  ranked(['match_memo'], 'right(memo, 5)', `assets.transfers WHERE length(memo) > 5`, 'xyzzyx'),
  ranked(['offers memo'], 'memo', `assets.offers WHERE memo <> ''`, 'no such memo'),
  ranked(['offers match_memo'], 'right(memo, 4)', `assets.offers WHERE memo <> ''`, 'xyzzyx'),
  ranked(
    ['match', 'search'],
    `split_part(t.immutable_data ->> 'name', ' ', 2)`,
    `${ASSETS} JOIN ${TEMPLATES} USING (template_id) WHERE t.immutable_data ? 'name'`,
    'xyzzyx',
  ),
  ranked(['collections match'], 'left(collection_name, 3)', 'assets.collections', 'xyz'),
  ranked(['collections search'], `split_part(data ->> 'name', ' ', 1)`, 'assets.collections', 'xyzzyx'),
  ranked(['schemas match'], 'left(schema_name, 3)', 'assets.schemas', 'xyz'),
  ranked(['match_owner'], 'left(account, 3)', 'assets.accounts', 'xyz'),
  ranked(
    ['match_immutable_name'],
    `left(a.immutable_data ->> 'name', 5)`,
    `${ASSETS} WHERE a.immutable_data ? 'name'`,
    'xyzzyx',
  ),
  ranked(
    ['match_mutable_name'],
    `left(a.mutable_data ->> 'name', 6)`,
    `${ASSETS} WHERE a.mutable_data ? 'name'`,
    'xyzzyx',
  ),
  ranked(
    ['template_mint', 'min_template_mint', 'max_template_mint'],
    'a.template_mint',
    `${ASSETS} WHERE a.template_mint > 0`,
    '999999999',
  ),
  ranked(
    ['issued_supply', 'min_issued_supply', 'max_issued_supply'],
    'issued_supply',
    TEMPLATES,
    '999999999',
  ),
  ranked(['max_supply'], 'max_supply', TEMPLATES, '999999999'),
  ranked(
    ['data.rarity', 'template_data.rarity'],
    `t.immutable_data ->> 'rarity'`,
    `${ASSETS} JOIN ${TEMPLATES} USING (template_id)`,
    'xyzzyx',
  ),
  ranked(
    ['data:number.power', 'template_data:number.power'],
    `t.immutable_data ->> 'power'`,
    `${ASSETS} JOIN ${TEMPLATES} USING (template_id)`,
    '70000',
  ),
  ranked(
    ['immutable_data.rarity'],
    `a.immutable_data ->> 'rarity'`,
    `${ASSETS} WHERE a.immutable_data ? 'rarity'`,
    'xyzzyx',
  ),
  ranked(
    ['immutable_data.serial'],
    `a.immutable_data ->> 'serial'`,
    `${ASSETS} WHERE a.immutable_data ? 'serial'`,
    'xyzzyx',
  ),
  ranked(
    ['mutable_data:number.level'],
    `a.mutable_data ->> 'level'`,
    `${ASSETS} WHERE a.mutable_data ? 'level'`,
    '70000',
  ),
  ranked(
    ['mutable_data.status'],
    `a.mutable_data ->> 'status'`,
    `${ASSETS} WHERE a.mutable_data ? 'status'`,
    'xyzzyx',
  ),
  spread(['asset_id', 'assets ids', 'assets lower_bound', 'assets upper_bound'], 'asset_id', 'assets.assets'),
  spread(
    ['sender_asset_blacklist', 'sender_asset_whitelist'],
    'sender_asset_ids[1]',
    `assets.offers WHERE sender_asset_ids <> '{}'`,
  ),
  spread(
    ['recipient_asset_blacklist', 'recipient_asset_whitelist'],
    'recipient_asset_ids[1]',
    `assets.offers WHERE recipient_asset_ids <> '{}'`,
  ),
  spread(['offer_id', 'offers ids', 'offers lower_bound', 'offers upper_bound'], 'offer_id', 'assets.offers'),
  spread(
    ['transfer_id', 'transfers ids', 'transfers lower_bound', 'transfers upper_bound'],
    'transfer_id',
    'assets.transfers',
  ),
  spread(['templates lower_bound', 'templates upper_bound'], 'template_id', TEMPLATES),
  spread(['accounts lower_bound', 'accounts upper_bound'], 'account', 'assets.accounts'),
  spread(['burns lower_bound', 'burns upper_bound'], 'burned_by_account', `${ASSETS} WHERE owner IS NULL`),
  spread(['collections lower_bound', 'collections upper_bound'], 'collection_name', 'assets.collections'),
  spread(['schemas lower_bound', 'schemas upper_bound'], 'schema_name', 'assets.schemas'),
  spread(['assets before', 'assets after'], 'updated_at_time', 'assets.assets'),
  spread(['offers before', 'offers after'], 'updated_at_time', 'assets.offers'),
  spread(['before', 'after'], 'block_time', 'assets.blocks'),
  spread(['collections before', 'collections after'], 'created_at_time', 'assets.collections'),
  spread(['schemas before', 'schemas after'], 'created_at_time', 'assets.schemas'),
  spread(['templates before', 'templates after'], 'created_at_time', TEMPLATES),
]

/** Example values that are not sampled from the database, by parameter. */
const fixed: Readonly<Record<string, readonly string[]>> = {
  state: ['0', '1', '2', '3', '5'],
  original_mint: ['1'],
  min_original_mint: ['1'],
  max_original_mint: ['1'],
  'data:bool.foil': ['true'],
  'data.text': ['xyzzyx'],
  'immutable_data.no such': ['xyzzyx'],
  'mutable_data.no such': ['xyzzyx'],
  action_whitelist: ['logsetdata', 'setmarketfee'],
  action_blacklist: ['logmint'],
}

/** Samples example values for every known parameter from a database. */
export async function pickExamples(client: pg.ClientBase): Promise<Examples> {
  const examples = new Map<string, Example[]>()
  for (const source of [...sources, ...marketSources]) {
    const { rows } = await client.query<{ v: string; kind: ExampleKind }>(
      `SELECT x.v, x.kind FROM (${source.query}) x(v, kind, place) WHERE x.v IS NOT NULL ORDER BY x.place, x.v`,
    )
    const found = rows.map(({ v, kind }) => ({ kind, value: v }))
    for (const key of source.keys) examples.set(key, [...found, { kind: 'missing', value: source.missing }])
  }
  for (const [key, values] of Object.entries({ ...fixed, ...marketFixed })) {
    examples.set(
      key,
      values.map((value) => ({ kind: 'typical', value })),
    )
  }
  const templates = examples.get('template_id')
  if (templates) examples.set('template_id', [...templates, { kind: 'popular', value: 'null' }])
  return examples
}
