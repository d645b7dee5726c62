import { endpoint } from '../../../endpoint/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { assetListParameters } from '../../nft/parameters/index.ts'
import { assetsEndpoints } from '../../assets/index.ts'
import { listJson } from '../../nft/endpoints/index.ts'
import { priceColumns, pricedAssets } from '../lists/priced-assets.ts'
import type { MarketSetup } from '../setup.ts'

/** Endpoints of the assets namespace that the market serves too, with its own asset records. */
const OF_ASSETS = /^\/v1\/(?:assets|offers|transfers)(?:\/|$)/

/**
 * Endpoints of assets, offers and transfers, as in the assets namespace. Records of assets also show prices and
 * listings.
 */
export function assetViewEndpoints(setup: MarketSetup): Endpoint[] {
  return assetsEndpoints(setup.assets)
    .filter(({ path }) => OF_ASSETS.test(path))
    .map((of) => (of.path === '/v1/assets' || of.path === '/v1/assets/_count' ? priced(setup, of) : of))
}

/** The list of assets with additional sorts by price. */
function priced(setup: MarketSetup, of: Endpoint): Endpoint {
  const { lists, records, limits } = setup.assets
  return endpoint({
    ...of,
    parameters: assetListParameters(limits.assets, Object.keys(priceColumns)),
    run: async (context) => {
      const { sort, count } = context.values
      const column = priceColumns[sort]
      if (column === undefined || of.path.endsWith('/_count') || count === true) return of.run(context)
      return listJson({ lists, kind: records.asset }, context, await pricedAssets(context, setup, column))
    },
  })
}
