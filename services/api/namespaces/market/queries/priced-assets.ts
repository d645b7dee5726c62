import type { EndpointContext } from '../../../endpoint/index.ts'
import { assetQuery } from '../../assets/index.ts'
import { selectPage } from '../../paging/index.ts'
import type { KeyPage } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { mergeBranches, NO_VALUE } from './branches.ts'

/** Columns of the prices of templates, by the sort that asks for them. */
export const PRICE_SORTS: Readonly<Record<string, string>> = {
  suggested_median_price: 'p.suggested_median',
  suggested_average_price: 'p.suggested_average',
  median_price: 'p.median',
  average_price: 'p.average',
}

/**
 * A template has prices in every token that it was traded in; what its assets are sorted by is the one in the token
 * that the contract names first.
 */
const FIRST_TOKEN = `p.token_symbol = (SELECT q.token_symbol FROM market.template_prices q
    JOIN market.tokens y ON y.token_symbol = q.token_symbol WHERE q.template_id = p.template_id
    ORDER BY y.place LIMIT 1)`

/** The page of assets that a request asks for, in the order of a price; what has no price comes last. */
export async function selectPricedAssets(
  context: EndpointContext,
  { trigrams }: MarketSetup,
  column: string,
): Promise<KeyPage> {
  const { session, values, attributes } = context
  const { from, conditions, bindings } = await assetQuery(session, values, attributes, trigrams)
  const branches = [
    {
      from: `${from} JOIN market.template_prices p ON p.template_id = a.template_id`,
      conditions: [FIRST_TOKEN],
      value: column,
      order: [column],
    },
    {
      conditions: ['NOT EXISTS (SELECT FROM market.template_prices p WHERE p.template_id = a.template_id)'],
      value: NO_VALUE,
      order: [],
    },
  ]
  return selectPage(
    session,
    values,
    mergeBranches({ from, key: 'a.asset_id', conditions, branches, bindings }, values),
  )
}
