import type { Endpoint, EndpointContext } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import type { AccountValues } from '../parameters.ts'
import { holdingParameters, ownerParameters } from '../parameters.ts'
import { ofAccount, ofCollection } from '../../nft/parameters/index.ts'
import { countOwners, ownerPage } from '../lists/account-list.ts'
import { accountCollection } from '../aggregates/account-collection.ts'
import { countHoldings } from '../aggregates/holdings.ts'
import { accountCollectionRecord, accountCount, accountDetail } from '../records/holding-schemas.ts'
import { accountDetailJson } from '../records/holding-records.ts'
import type { AssetsSetup } from '../setup.ts'
import { countEndpointOf } from '../../nft/endpoints/index.ts'

const accountCollectionEndpoint = endpoint({
  path: '/v1/accounts/:account/:collection_name',
  tag: 'accounts',
  summary: 'Number of assets of a collection that an account owns, by schema and by template',
  parameters: { ...ofAccount, ...ofCollection },
  record: accountCollectionRecord,
  cache: 'path',
  run: ({ session, values }) => accountCollection(session, values.account, values.collection_name),
})

/**
 * Endpoints of accounts: list, count, and the number of assets of one account, in all collections and in one
 * collection.
 */
export function accountEndpoints(setup: AssetsSetup): Endpoint[] {
  const count = async (context: EndpointContext<AccountValues>): Promise<string> =>
    `"${await countOwners(setup.lists, setup.trigrams, context)}"`
  const list = endpoint({
    path: '/v1/accounts',
    tag: 'accounts',
    summary: 'Accounts that own assets, with the number of assets',
    parameters: ownerParameters(setup.limits.accounts),
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(accountCount.schema),
    run: async (context) => {
      if (context.values.count === true) return count(context)
      return ownerPage(setup.lists, setup.trigrams, context)
    },
  })
  const detail = endpoint({
    path: '/v1/accounts/:account',
    tag: 'accounts',
    summary: 'Number of assets that an account owns, by collection, schema and template',
    parameters: holdingParameters,
    record: accountDetail,
    run: async ({ session, values }) => {
      const holdings = await countHoldings(session, values, 'owner', values.account)
      return accountDetailJson(session, setup, holdings)
    },
  })
  return [list, countEndpointOf(list, count), detail, accountCollectionEndpoint]
}
