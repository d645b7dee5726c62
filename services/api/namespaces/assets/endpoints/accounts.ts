import type { Endpoint, EndpointContext } from '../../../endpoint/index.ts'
import {
  assetFilter,
  assetNameSearch,
  boundaries,
  counting,
  greyLists,
  hideOffers,
  paging,
} from '../../parameter-groups/index.ts'
import { countAccounts, selectAccounts } from '../queries/index.ts'
import type { AssetsSetup } from '../setup.ts'
import { countTwin } from './list.ts'

/** `/v1/accounts` and its count. */
export function accountEndpoints(setup: AssetsSetup): Endpoint[] {
  const count = async ({ session, values, attributes }: EndpointContext): Promise<string> =>
    `"${await countAccounts(session, values, attributes, setup.trigrams)}"`
  const list: Endpoint = {
    path: '/v1/accounts',
    tag: 'accounts',
    summary: 'Accounts that own assets, with how many',
    parameters: [
      ...paging(setup.limits.accounts),
      counting,
      { name: 'match_owner', type: 'name', description: 'The account contains this text.' },
      ...assetFilter,
      ...assetNameSearch,
      ...greyLists,
      hideOffers,
      ...boundaries({ name: 'owner', type: 'string', isFilter: true }),
    ],
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: 'AccountCount[]',
    run: async (context) => {
      if (context.values.bool('count') === true) return count(context)
      return selectAccounts(context.session, context.values, context.attributes, setup.trigrams)
    },
  }
  return [list, countTwin(list, count)]
}
