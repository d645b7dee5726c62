import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import type { AssetSearch } from '../../assets/index.ts'
import {
  foundConditions,
  searchAssets,
  searchConditions,
  sortsAll,
  templateSideConditions,
  unindexed,
} from '../../assets/index.ts'
import { directionOf, selectPage } from '../../paging/index.ts'
import type { KeyPage, PageQuery } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'

/** Columns of the prices of templates, by the sort that asks for them. */
export const PRICE_SORTS: Readonly<Record<string, string>> = {
  suggested_median_price: 'p.suggested_median',
  suggested_average_price: 'p.suggested_average',
  median_price: 'p.median',
  average_price: 'p.average',
}

/**
 * A template has prices in every token that it was traded in; what its assets are sorted by is the one in the token
 * that the contract names first. Most are traded in the very first.
 */
const FIRST_TOKEN = `CASE WHEN p.token_symbol = (SELECT y.token_symbol FROM market.tokens y ORDER BY y.place LIMIT 1) THEN true
  ELSE p.token_symbol = (SELECT q.token_symbol FROM market.template_prices q
    JOIN market.tokens y ON y.token_symbol = q.token_symbol WHERE q.template_id = p.template_id
    ORDER BY y.place LIMIT 1) END`
const HAS_PRICE = 'EXISTS (SELECT FROM market.template_prices p WHERE p.template_id = a.template_id)'
const FROM = 'assets.assets a'
const KEY = 'a.asset_id'

/** The page of assets that a request asks for, in the order of a price; what has no price comes last. */
export async function selectPricedAssets(
  context: EndpointContext,
  { trigrams }: MarketSetup,
  column: string,
): Promise<KeyPage> {
  const { session, values, attributes } = context
  const search = await searchAssets(session, values, attributes, trigrams)
  return selectPage(session, values, await priceQuery(context, search, column))
}

async function priceQuery(
  { session, values }: EndpointContext,
  search: AssetSearch,
  column: string,
): Promise<PageQuery> {
  if (values.isNull('template_id')) return withoutPrice(search)
  const bindings = new Bindings()
  const direction = directionOf(values)
  if (await sortsAll(session, search)) {
    const prices = `SELECT DISTINCT ON (p.template_id) p.template_id, ${column} AS price
      FROM market.template_prices p JOIN market.tokens y USING (token_symbol) ORDER BY p.template_id, y.place`
    return {
      key: KEY,
      from: `${FROM} JOIN (${prices}) p ON p.template_id = a.template_id`,
      conditions: foundConditions(search, bindings),
      order: `p.price ${direction} NULLS LAST, ${KEY}`,
      bindings,
      rest: () => withoutPrice(search, foundConditions),
    }
  }
  const conditions = searchConditions(search, bindings).map(unindexed)
  const ofTemplate = templateConditions(search, bindings)
  return {
    key: KEY,
    from: FROM,
    conditions: [...conditions, HAS_PRICE],
    order: '',
    ordered: (most) => `
      SELECT x.asset_id AS k FROM market.template_prices p JOIN assets.templates t ON t.template_id = p.template_id
      CROSS JOIN LATERAL (SELECT a.asset_id FROM ${FROM} ${whereClause(['a.template_id = t.template_id', ...conditions])}
        ORDER BY a.asset_id LIMIT ${Math.min(most, mostOfTemplate(values))}) x
      ${whereClause([FIRST_TOKEN, ...ofTemplate])} ORDER BY ${column} ${direction}, k LIMIT ${most}`,
    bindings,
    rest: () => withoutPrice(search),
  }
}

/** What a search demands of templates; mint numbers are at most the supply. */
function templateConditions(search: AssetSearch, bindings: Bindings): string[] {
  const { values } = search
  const least = values.int('template_mint') ?? values.int('min_template_mint')
  return [
    ...templateSideConditions(search, bindings),
    ...(least === undefined ? [] : [`t.issued_supply >= ${bindings.bind(least, 'bigint')}`]),
  ]
}

/** Assets of one template that can match: each has a mint number of its own, and the numbers follow the ids. */
function mostOfTemplate(values: Values): number {
  return values.has('template_mint') ? 1 : (values.int('max_template_mint') ?? Infinity)
}

function withoutPrice(search: AssetSearch, conditionsOf = searchConditions): PageQuery {
  const bindings = new Bindings()
  const conditions = [...conditionsOf(search, bindings), `NOT ${HAS_PRICE}`]
  return { key: KEY, from: FROM, conditions, order: KEY, bindings }
}
