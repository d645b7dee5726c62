import type { Endpoint } from '../../../endpoint/index.ts'
import type { AssetsSetup } from '../setup.ts'
import { accountEndpoints } from './accounts.ts'
import { assetEndpoints } from './assets.ts'
import { burnEndpoints } from './burns.ts'
import { collectionEndpoints } from './collections.ts'
import { configEndpoint } from './config.ts'
import { logEndpoints } from './logs.ts'
import { offerEndpoints } from './offers.ts'
import { schemaEndpoints } from './schemas.ts'
import { statsEndpoints } from './stats.ts'
import { templateEndpoints } from './templates.ts'
import { transferEndpoints } from './transfers.ts'

/** Every endpoint of the namespace. Fixed paths come before paths with a parameter at the same position. */
export function assetsEndpoints(setup: AssetsSetup): Endpoint[] {
  return [
    configEndpoint,
    ...statsEndpoints,
    ...accountEndpoints(setup),
    ...assetEndpoints(setup),
    ...burnEndpoints(setup),
    ...collectionEndpoints(setup),
    ...schemaEndpoints(setup),
    ...templateEndpoints(setup),
    ...offerEndpoints(setup),
    ...transferEndpoints(setup),
    ...logEndpoints(setup),
  ]
}
