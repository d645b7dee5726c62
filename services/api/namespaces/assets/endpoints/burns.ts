import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { burnerParameters, holdingParameters } from '../parameters.ts'
import { burnerPage } from '../lists/account-list.ts'
import { countHoldings } from '../aggregates/holdings.ts'
import { accountCount, burnDetail } from '../records/holding-schemas.ts'
import { burnDetailJson } from '../records/holding-records.ts'
import type { AssetsSetup } from '../setup.ts'

/** Endpoints of burns: list of accounts, and the number of assets that one account burned. */
export function burnEndpoints(setup: AssetsSetup): Endpoint[] {
  const list = endpoint({
    path: '/v1/burns',
    tag: 'burns',
    summary: 'Accounts that burned assets, with the number of assets',
    parameters: burnerParameters(setup.limits.burns),
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(accountCount.schema),
    run: (context) => burnerPage(setup.lists, setup.trigrams, context),
  })
  const detail = endpoint({
    path: '/v1/burns/:account',
    tag: 'burns',
    summary: 'Number of assets that an account burned, by collection and template',
    parameters: holdingParameters,
    record: burnDetail,
    run: async ({ session, values }) => {
      const holdings = await countHoldings(session, values, 'burned_by_account', values.account)
      return burnDetailJson(session, setup, holdings)
    },
  })
  return [list, detail]
}
