import type { Endpoint } from '../../../endpoint/index.ts'
import type { MarketSetup } from '../setup.ts'
import { assetViewEndpoints } from './assets.ts'
import { configEndpoints } from './config.ts'
import { listingEndpoints, saleEndpoints } from './listings.ts'
import { marketLogEndpoints } from './logs.ts'
import { priceEndpoints } from './prices.ts'
import { royaltyEndpoints } from './royalties.ts'
import { statsEndpoints } from './stats.ts'

/** Every endpoint of the namespace. Fixed paths come before paths with a parameter at the same position. */
export function marketEndpoints(setup: MarketSetup): Endpoint[] {
  return [
    ...configEndpoints(setup),
    ...saleEndpoints(setup),
    ...listingEndpoints(setup),
    ...priceEndpoints(setup),
    ...statsEndpoints(setup),
    ...royaltyEndpoints(setup),
    ...marketLogEndpoints(setup),
    ...assetViewEndpoints(setup),
  ]
}
