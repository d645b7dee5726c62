import { inPath, text } from '../../../../core/parameters/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { config, marketConfig, marketplace, marketplaces } from '../records/config.ts'
import type { MarketSetup } from '../setup.ts'

const noConfig = { status: 500, message: 'Config not found' } as const
const noMarketplace = { status: 416, message: 'Marketplace not found' } as const

/** Endpoints `/v1/config` and `/v1/marketplaces`. */
export function configEndpoints(setup: MarketSetup): Endpoint[] {
  return [
    endpoint({
      path: '/v1/config',
      method: 'get',
      tag: 'config',
      summary: 'Settings of the contract',
      parameters: {},
      record: config.schema,
      failures: [noConfig],
      cache: 'path',
      run: async ({ session }) => {
        const text = await marketConfig(session, setup.contract)
        if (text === undefined) throw new RequestError(noConfig.status, noConfig.message)
        return text
      },
    }),
    endpoint({
      path: '/v1/marketplaces',
      tag: 'marketplaces',
      summary: 'All marketplaces, the oldest first',
      parameters: {},
      record: shape.list(marketplace.schema),
      cache: 'path',
      run: async ({ session }) => `[${(await marketplaces(session)).join(',')}]`,
    }),
    endpoint({
      path: '/v1/marketplaces/:name',
      tag: 'marketplaces',
      summary: 'One marketplace',
      parameters: { name: inPath(text('Name of the marketplace.')) },
      record: marketplace.schema,
      failures: [noMarketplace],
      cache: 'path',
      run: async ({ session, values }) => {
        const [text] = await marketplaces(session, values.name)
        if (text === undefined) throw new RequestError(noMarketplace.status, noMarketplace.message)
        return text
      },
    }),
  ]
}
