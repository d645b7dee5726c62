import type { Endpoint, Parameter } from '../../../endpoint/index.ts'
import { assetsEndpoints, listJson } from '../../assets/index.ts'
import { PRICE_SORTS, pricedAssets } from '../lists/index.ts'
import type { MarketSetup } from '../setup.ts'

/** What the market serves of the assets namespace, with its own view of assets. */
const OF_ASSETS = /^\/v1\/(?:assets|offers|transfers)(?:\/|$)/

/** Assets, offers and transfers as the assets namespace has them, but for what the market says of assets. */
export function assetViewEndpoints(setup: MarketSetup): Endpoint[] {
  return assetsEndpoints(setup.assets)
    .filter(({ path }) => OF_ASSETS.test(path))
    .map((endpoint) => {
      if (endpoint.path !== '/v1/assets' && endpoint.path !== '/v1/assets/_count') return endpoint
      return {
        ...endpoint,
        parameters: endpoint.parameters.map(withPriceSorts),
        run: pricedRun(setup, endpoint),
      }
    })
}

function withPriceSorts(parameter: Parameter): Parameter {
  if (parameter.name !== 'sort') return parameter
  return { ...parameter, values: [...(parameter.values ?? []), ...Object.keys(PRICE_SORTS)] }
}

/** The list as it is, and in the order of prices. */
function pricedRun(setup: MarketSetup, endpoint: Endpoint): Endpoint['run'] {
  return async (context) => {
    const { values } = context
    const column = PRICE_SORTS[values.text('sort')!]
    if (column === undefined || endpoint.path.endsWith('/_count') || values.bool('count') === true) {
      return endpoint.run(context)
    }
    const list = await pricedAssets(context, setup, column)
    return listJson(setup.assets.lists, context, list, setup.assets.records.asset)
  }
}
