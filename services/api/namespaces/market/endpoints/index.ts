import type { Endpoint } from '../../../endpoint/index.ts'
import { assetsEndpoints } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import { auctionEndpoints } from './auctions.ts'
import { buyofferEndpoints, templateBuyofferEndpoints } from './buyoffers.ts'
import { configEndpoints } from './config.ts'
import { marketLogEndpoints } from './logs.ts'
import { priceEndpoints } from './prices.ts'
import { royaltyEndpoints } from './royalties.ts'
import { saleEndpoints } from './sales.ts'
import { statsEndpoints } from './stats.ts'

/** What the market serves of the assets namespace, with its own view of assets. */
const OF_ASSETS = /^\/v1\/(?:assets|offers|transfers)(?:\/|$)/

/** Every endpoint of the namespace. On one level, fixed paths come before those with parameters. */
export function marketEndpoints(setup: MarketSetup): Endpoint[] {
  return [
    ...configEndpoints(setup),
    ...saleEndpoints(setup),
    ...auctionEndpoints(setup),
    ...buyofferEndpoints(setup),
    ...templateBuyofferEndpoints(setup),
    ...priceEndpoints(setup),
    ...statsEndpoints(setup),
    ...royaltyEndpoints(setup),
    ...marketLogEndpoints(setup),
    ...assetsEndpoints(setup.assets).filter(({ path }) => OF_ASSETS.test(path)),
  ]
}
