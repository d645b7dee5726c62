import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import {
  assetQuery,
  filtersOf,
  ownDataConditions,
  searchAssets,
  wholeTemplateConditions,
} from '../../assets/index.ts'
import type { AssetSearch } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import { expectedRows } from './expectation.ts'

/** Filters that all assets of a template pass, or none. */
const OF_TEMPLATES = [
  ...['collection_name', 'collection_whitelist', 'collection_blacklist', 'authorized_account', 'schema_name'],
  ...['template_id', 'template_whitelist', 'template_blacklist', 'hide_templates_by_accounts'],
  ...['has_template_buyoffer', 'is_transferable', 'is_burnable', 'match', 'search', 'data', 'template_data'],
]
const DUPLICATE = 'only_duplicate_templates'
/** Besides these: what is counted for each template, and what leaves out few assets, which are taken off. */
const COUNTED = [...OF_TEMPLATES, 'burned', 'hide_offers', 'has_backed_tokens']
/** Besides these: ranges of mint numbers and of ids. */
const RANGED = [
  ...OF_TEMPLATES,
  ...['template_mint', 'min_template_mint', 'max_template_mint', 'lower_bound', 'upper_bound'],
]

/** How many assets of each template, `template_id` and `assets`. */
export interface HeldAssets {
  /** A SELECT. */
  readonly text: string
  readonly bindings: Bindings
  /** The same made in another way, for when there are none: the quick way does not always know. */
  readonly otherwise?: HeldAssets
}

/**
 * How many assets of each template match a request. Assets are looked at only where a filter asks about them one by one:
 * otherwise their numbers are those that are kept for templates.
 * @param owner only what this account owns.
 */
export async function heldAssets(
  session: Session,
  { trigrams }: MarketSetup,
  values: Values,
  attributes: readonly AttributeFilter[],
  owner?: string,
): Promise<HeldAssets> {
  const search = await searchAssets(session, values, attributes, trigrams)
  const counted = new Bindings()
  const number = owner === undefined ? numberOfAll(search, counted) : numberOwned(search, owner, counted)
  if (number) return ofTemplates(search, number, counted)
  const { from, conditions, bindings } = await assetQuery(session, values, attributes, trigrams)
  const own = owner === undefined ? [] : [`a.owner = ${bindings.bind(owner, 'text')}`]
  const matching = whereClause([...conditions, ...own, 'a.template_id IS NOT NULL'])
  const text = `SELECT a.template_id, count(*) AS assets FROM ${from} ${matching} GROUP BY a.template_id`
  if (owner !== undefined || !asksOnly(search, [...OF_TEMPLATES, 'mutable_data'])) return { text, bindings }
  const found = `SELECT a.asset_id FROM ${from} ${matching}`
  const expected = await expectedRows(session, { text: found, values: bindings.values })
  if (expected <= SOON_READ) return { text, bindings }
  return { ...ofTemplates(search, saidNumber(search, counted), counted), otherwise: { text, bindings } }
}

/** Assets up to which those that match are read sooner than it is found out how many say the same. */
const SOON_READ = 50_000
/** Different texts of attributes up to which one asset of each is looked at. */
const MOST_TEXTS = 5_000

/** By their mutable attributes: an index has how many assets of a template say the same, and one of those tells what. */
function saidNumber({ values, attributes }: AssetSearch, bindings: Bindings): TemplateNumber {
  const told = 'a.template_id IS NOT NULL AND a.mutable_digest IS NOT NULL'
  const meets = ownDataConditions(values, attributes, bindings).join(' AND ')
  return {
    assets: 'k.assets',
    counts: `(WITH said AS MATERIALIZED (SELECT a.template_id, a.mutable_digest AS digest, count(*) AS assets
        FROM assets.assets a WHERE ${told} GROUP BY a.template_id, a.mutable_digest),
      texts AS MATERIALIZED (SELECT DISTINCT ON (digest) digest, template_id FROM said LIMIT ${MOST_TEXTS + 1}),
      met AS MATERIALIZED (SELECT x.digest FROM texts x CROSS JOIN LATERAL (SELECT a.mutable_data FROM assets.assets a
          WHERE a.template_id = x.template_id AND a.mutable_digest = x.digest AND ${told} LIMIT 1) a
        WHERE (${meets}) IS TRUE)
      SELECT s.template_id, sum(s.assets)::bigint AS assets FROM said s JOIN met USING (digest)
      WHERE (SELECT count(*) FROM texts) <= ${MOST_TEXTS} GROUP BY s.template_id) k`,
  }
}

/** How the number of the assets of a template, `t`, is made. */
interface TemplateNumber {
  readonly assets: string
  /** FROM item `k` with a row for each template. */
  readonly counts: string
  /** What else is joined. */
  readonly joined?: string
}

function ofTemplates(
  search: AssetSearch,
  { assets, counts, joined = '' }: TemplateNumber,
  bindings: Bindings,
): HeldAssets {
  const conditions = wholeTemplateConditions(search, bindings)
  return {
    text: `SELECT n.template_id, n.assets FROM (
        SELECT k.template_id, ${assets} AS assets
        FROM ${counts} JOIN assets.templates t USING (template_id) ${joined} ${whereClause(conditions)}
        -- What is computed for a template is computed once.
        OFFSET 0) n
      WHERE n.assets > 0`,
    bindings,
  }
}

const KEPT = 'assets.template_counts k'

/** Undefined where assets must be looked at. */
function numberOfAll(search: AssetSearch, bindings: Bindings): TemplateNumber | undefined {
  if (asksOnly(search, COUNTED)) return countedAssets(search)
  if (asksOnly(search, RANGED)) return rangedAssets(search, bindings)
  return asksOnly(search, [...OF_TEMPLATES, DUPLICATE]) ? DUPLICATES : undefined
}

/** The assets of an account are counted first, from the index of their owner; undefined where they must be looked at. */
function numberOwned(search: AssetSearch, owner: string, bindings: Bindings): TemplateNumber | undefined {
  if (search.values.bool('burned') === true || !asksOnly(search, [...OF_TEMPLATES, 'burned', DUPLICATE]))
    return undefined
  return {
    assets: search.values.bool(DUPLICATE) === true ? 'k.owned - 1' : 'k.owned',
    counts: `(SELECT a.template_id, count(*) AS owned FROM assets.assets a
      WHERE a.owner = ${bindings.bind(owner, 'text')} AND a.template_id IS NOT NULL GROUP BY a.template_id OFFSET 0) k`,
  }
}

function asksOnly(search: AssetSearch, allowed: readonly string[]): boolean {
  const wantsAll = search.values.bool(DUPLICATE) === false
  return filtersOf(search).every((name) => allowed.includes(name) || (name === DUPLICATE && wantsAll))
}

const OFFERED = `SELECT x.asset_id FROM assets.open_offer_assets x JOIN assets.offers p USING (offer_id) WHERE p.state = 0`
const BACKED = 'SELECT b.asset_id FROM assets.backed_tokens b'

/** All that were minted, are burned, or are not, without the few that offers or backed tokens leave out. */
function countedAssets({ values }: AssetSearch): TemplateNumber | undefined {
  if (values.bool('has_backed_tokens') === true) return undefined
  const burned = values.bool('burned')
  const all = burned === undefined ? 'k.minted' : burned ? 'k.burned' : 'k.minted - k.burned'
  const unwanted = [
    ...(values.bool('hide_offers') === true ? [OFFERED] : []),
    ...(values.bool('has_backed_tokens') === false ? [BACKED] : []),
  ]
  if (unwanted.length === 0) return { assets: all, counts: KEPT }
  const conditions = [
    'a.template_id IS NOT NULL',
    ...(burned === undefined ? [] : [burned ? 'a.owner IS NULL' : 'a.owner IS NOT NULL']),
  ]
  return {
    assets: `${all} - coalesce(x.assets, 0)`,
    counts: KEPT,
    joined: `LEFT JOIN (SELECT a.template_id, count(*) AS assets
        FROM (SELECT DISTINCT w.asset_id FROM (${unwanted.join(' UNION ALL ')}) w) u JOIN assets.assets a USING (asset_id) ${whereClause(conditions)}
        GROUP BY a.template_id) x ON x.template_id = k.template_id`,
  }
}

/** All but one of what each account owns of a template; its index has both together. */
const DUPLICATES: TemplateNumber = {
  assets: 'k.minted - k.burned - x.accounts',
  counts: KEPT,
  joined: `JOIN (SELECT h.template_id, count(*) AS accounts
      FROM (SELECT o.template_id FROM (SELECT a.owner, a.template_id FROM assets.assets a
          WHERE a.owner IS NOT NULL AND a.template_id IS NOT NULL ORDER BY a.owner, a.template_id OFFSET 0) o
        GROUP BY o.owner, o.template_id) h
      GROUP BY h.template_id) x ON x.template_id = k.template_id`,
}

/**
 * Within a template mint numbers follow the ids, one after the other up to its supply: how many are in a range follows
 * from its ends. Where a chain is indexed from a later block on, the first numbers are not known.
 */
function rangedAssets({ values }: AssetSearch, bindings: Bindings): TemplateNumber {
  const exact = values.int('template_mint')
  const bound = (...numbers: (number | undefined)[]): string[] =>
    numbers.flatMap((number) => (number === undefined ? [] : bindings.bind(number, 'bigint')))
  const unknown = 't.issued_supply - k.minted'
  /** The highest mint number of the assets below an id. */
  const below = (id: number | undefined): string[] =>
    bound(id).map(
      (value) => `coalesce((SELECT a.template_mint FROM assets.assets a
        WHERE a.template_id = t.template_id AND a.asset_id < ${value} ORDER BY a.asset_id DESC LIMIT 1), ${unknown})`,
    )
  const last = [
    't.issued_supply',
    ...bound(exact, values.int('max_template_mint')),
    ...below(values.int('upper_bound')),
  ]
  const before = [
    unknown,
    ...bound(exact, values.int('min_template_mint')).map((least) => `${least} - 1`),
    ...below(values.int('lower_bound')),
  ]
  return { assets: `least(${last.join(', ')}) - greatest(${before.join(', ')})`, counts: KEPT }
}
